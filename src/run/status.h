// status.json: where a run stands, for scripts; and the question whether it is done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/atomic_file.h"

namespace trainyard {

enum class RunState {
  starting,
  running,
  saving,
  completed,    // all epochs, early stop, or target reached
  stopped,      // by its own limit, saved
  interrupted,  // by a signal, saved
  failed,
  diverged,
};

/// "completed", as in the file.
[[nodiscard]] std::string_view name_of(RunState state);

struct BestValue {
  std::string metric;  // "val_accuracy"
  double value = 0;
  std::int64_t epoch = 0;
};

/// The fields of status.json, in its order. Times are UTC seconds since 1970.
struct RunStatus {
  RunState state = RunState::starting;
  std::optional<int> exit_code;  // empty while the run lives
  std::string message;
  std::int64_t pid = 0;
  std::string host;
  std::int64_t started = 0;
  std::int64_t updated = 0;
  std::int64_t epoch = 0;  // finished epochs
  std::int64_t epochs = 0;
  std::int64_t step = 0;  // finished steps of the run
  std::int64_t steps_per_epoch = 0;
  std::optional<double> loss;
  std::optional<BestValue> best;
  std::string last_checkpoint;
  std::optional<double> eta_seconds;
  std::optional<double> images_per_s;
  std::string resume_command;
  std::string config_hash;
};

/// The file's text. What is not known, and a loss that is no number, is null.
[[nodiscard]] std::string status_text(const RunStatus& status);

/// What other commands ask of a run folder.
struct StatusSummary {
  std::string state;
  std::string config_hash;
  std::int64_t epoch = 0;
  std::int64_t epochs = 0;
};

/// Empty if `path` is missing or cannot be read as a status.json.
[[nodiscard]] std::optional<StatusSummary> read_status(const std::filesystem::path& path);

/// Writes status.json: at once when the run tells it to, and by update() at most every 10 seconds.
class StatusFile {
 public:
  /// `disk` must outlive it.
  StatusFile(const Disk& disk, std::filesystem::path path);
  /// Replaces the file. `now_seconds` is a Clock's seconds().
  void write(const RunStatus& status, double now_seconds);
  /// The same if the last write is 10 seconds ago or more.
  void update(const RunStatus& status, double now_seconds);

 private:
  const Disk& disk_;
  std::filesystem::path path_;
  std::optional<double> written_at_;
};

}  // namespace trainyard
