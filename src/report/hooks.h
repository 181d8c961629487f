// Commands of the user's that a run starts at its events.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/child_process.h"
#include "base/filesystem.h"
#include "formats/json.h"
#include "report/epoch_line.h"
#include "report/metrics.h"

namespace trainyard {

/// The run file's `hooks`; "": no command.
struct HookCommands {
  std::string epoch, best, end;
  double time_limit = 30;  // seconds
};

enum class Hook { epoch, best, end };
/// "epoch".
[[nodiscard]] std::string_view name_of(Hook hook);

/// An event's values as variables: TRAINYARD_STATE=running, of maps in it
/// TRAINYARD_BEST_EPOCH=3, of null TRAINYARD_EXIT_CODE=.
[[nodiscard]] std::vector<std::string> hook_variables(const Json& event);

/// Starts the commands with /bin/sh in the background. Each hook runs one command at a time, in the
/// order of its events; nothing waits for them before finish(). What fails is one warning a hook,
/// never an error; a command that was killed at its limit is not started again.
class Hooks {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// What commands print goes to hook_epoch.out and hook_epoch.err in `logs`, which exists.
  /// `environment` has all variables, as NAME=VALUE. `disk` must outlive it.
  Hooks(const Disk& disk, const HookCommands& commands, fs::path logs,
        std::vector<std::string> environment, Warn warn);
  void warn_by(Warn warn) { warn_ = std::move(warn); }

  /// Adds an event for `hook`; finish() starts hooks of `end`.
  void add(Hook hook, const Json& event);
  /// Starts what is due.
  void look();
  /// Forgets the events that no command has been started for, but those of `end`.
  void forget();
  /// Ends commands that are running; later ones have at most these seconds.
  void hurry(double most_seconds);
  /// Waits for all commands, each within its limit; those of `end` come last.
  void finish();

 private:
  struct State {
    Hook hook;
    std::string command;
    std::deque<Json> events = {};  // events that wait
    std::unique_ptr<ChildProcess> child = nullptr;
    bool warned = false, hangs = false;
  };
  [[nodiscard]] fs::path log(const State& hook, const std::string& ending) const;
  [[nodiscard]] std::string complaint(const State& hook, const std::optional<int>& code) const;
  void start(State& hook);
  void take_result(State& hook);
  void warn_once(State& hook, const std::string& complaint);

  const Disk& disk_;
  double limit_seconds_;
  fs::path logs_;
  std::vector<std::string> environment_;
  Warn warn_;
  std::array<State, 3> hooks_;  // in the order of Hook
};

/// The last epoch of a run as --log json prints it, for its hooks.
class LastEpoch final : public MetricsSink {
 public:
  /// `hooks` must outlive it.
  LastEpoch(Hooks& hooks, const Banner& banner, std::int64_t epochs);
  void on_epoch(const EpochRow& row) override;
  void on_step(const StepRow&) override { hooks_.look(); }
  /// An empty map before the first epoch.
  [[nodiscard]] const Json& values() const { return values_; }

 private:
  Hooks& hooks_;
  std::int64_t epochs_, samples_a_step_;
  Json values_ = Json::object();
};

}  // namespace trainyard
