// The progress and current phase of a run: set by the training thread, read by the thread that
// writes status.json.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
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

}  // namespace trainyard
