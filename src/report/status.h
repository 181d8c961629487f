// status.json: the state of a run, for scripts.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "report/progress.h"

namespace trainyard {

enum class RunState {
  starting,
  running,
  saving,
  completed,    // all epochs, early stop, or target reached
  stopped,      // stopped by its own limit, saved
  interrupted,  // interrupted by a signal, saved
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

/// The content of status.json. Times are UTC seconds since 1970.
struct RunStatus {
  RunState state = RunState::starting;
  std::optional<int> exit_code;  // empty until the run has ended
  std::string message;
  std::int64_t pid = 0;
  std::string host;
  std::int64_t started = 0;
  std::int64_t updated = 0;  // when the file was written
  RunProgress at;
  std::int64_t epochs = 0;           // 0: not known yet
  std::int64_t steps = 0;            // length of the run; 0: not known yet
  std::int64_t steps_per_epoch = 0;  // 0: not known yet
  std::string unit = "img";          // what samples are called: "img", "seq"
  std::optional<BestValue> best;
  std::string last_checkpoint;
  std::string resume_command;
  std::string config_hash;
};

/// The name of the run's phase, or of its state once it has ended.
[[nodiscard]] std::string_view phase_of(const RunStatus& status);

/// The file's text. Unknown values, and a loss that is not finite, are null.
[[nodiscard]] std::string status_text(const RunStatus& status);

/// Reads a status.json, also of an older version: fields it lacks are unknown. Empty if `path` is
/// missing or not a status.json.
[[nodiscard]] std::optional<RunStatus> read_status(const std::filesystem::path& path);

// Keeps status.json up to date during a run.

/// Writes status.json immediately on write(), and every 10 seconds from its own thread: `updated`
/// shows that the process is alive, whatever it is doing, and `progressed` that it makes progress.
class StatusFile {
 public:
  /// The references must outlive it. The thread starts with the first write().
  StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress,
             std::filesystem::path path,
             std::chrono::milliseconds between = std::chrono::seconds(10));
  /// Replaces the file now, and uses all of `status` but its progress from then on. After a status
  /// with an exit code the thread writes nothing more. Throws Error{disk}.
  void write(const RunStatus& status);
  /// Afterwards only write() writes the file.
  void stop();

 private:
  void replace();
  void keep_up_to_date(const std::stop_token& stop);

  const Disk& disk_;
  const Clock& clock_;
  const ProgressNote& progress_;
  std::filesystem::path path_;
  std::chrono::milliseconds between_;
  std::mutex mutex_;  // held while the file is written
  RunStatus status_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace trainyard
