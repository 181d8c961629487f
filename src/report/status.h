// The progress of a run, set by the training thread, and status.json, the state of a run for
// scripts, which another thread writes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/filesystem.h"
#include "report/metrics.h"

namespace trainyard {

/// The phase of a run that has not ended.
enum class RunPhase {
  starting,
  reading_data,  // reads data and computes the statistics of the training split
  building,      // the model: plan, memory, on a GPU the choice of engines
  loading,       // a checkpoint
  training,
  evaluating,
  saving,
};

/// "reading_data", as in the file.
[[nodiscard]] std::string_view name_of(RunPhase phase);

/// A snapshot of a run's progress.
struct RunProgress {
  RunPhase phase = RunPhase::starting;
  std::int64_t progressed = 0;    // UTC seconds: a step, a batch of an evaluation or a phase began
  double hang_after_seconds = 0;  // without progress for longer, the run hangs
  std::int64_t epoch = 0;         // finished epochs
  std::int64_t step = 0;          // finished steps of the run
  std::optional<double> loss;     // loss of the last step; at the end of an epoch the epoch's mean
  std::optional<double> eta_seconds;
  std::optional<double> images_per_s;       // speed in the epoch so far
  std::optional<double> data_wait_percent;  // as in StepRow; at the end of an epoch as in EpochRow
};

/// Seconds without progress after which a run counts as hung: the run's 'limits'.
struct ProgressLimits {
  double first_step = 300;  // in each phase of the start, and in the first step
  double step = 60;         // afterwards; or 20 steps if that is longer
};

/// Records the progress of a run. Recording neither allocates nor touches a file, since it happens
/// at each step.
class ProgressNote {
 public:
  /// `clock` must outlive it.
  ProgressNote(const Clock& clock, const ProgressLimits& limits);
  /// Continues from the epoch, step and loss of `progress`.
  void recall(const RunProgress& progress);
  /// Training begins after `epoch` epochs and `step` of `steps` steps.
  void start_training(std::int64_t epoch, std::int64_t step, std::int64_t steps);
  /// A phase begins, or a step or batch of it.
  void begin(RunPhase phase);
  void on_step(const StepRow& row);
  void on_epoch(const EpochRow& row);
  /// Clears the eta.
  void end();
  /// May be called from any thread.
  [[nodiscard]] RunProgress now() const;

 private:
  [[nodiscard]] double limit(RunPhase phase) const;
  void mark();
  /// `row`: a StepRow or EpochRow after `epoch` finished epochs.
  template <typename Row>
  void move_to(std::int64_t epoch, const Row& row);

  const Clock& clock_;
  ProgressLimits limits_;
  mutable std::mutex mutex_;  // held only briefly
  RunProgress now_;
  // Training in this session.
  double began_ = 0;  // on the clock
  std::int64_t first_step_ = 0;
  std::int64_t steps_ = 0;     // steps of the whole run
  double seconds_a_step_ = 0;  // 0: not known
};

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
[[nodiscard]] std::optional<RunStatus> read_status(const fs::path& path);

// Keeps status.json up to date during a run.

/// Writes status.json immediately on write(), and every 10 seconds from its own thread: `updated`
/// shows that the process is alive, whatever it is doing, and `progressed` that it makes progress.
class StatusFile {
 public:
  /// The references must outlive it. The thread starts with the first write().
  StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress, fs::path path,
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
  fs::path path_;
  std::chrono::milliseconds between_;
  std::mutex mutex_;  // held while the file is written
  RunStatus status_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last, so that it ends before the members it uses
};

}  // namespace trainyard
