// Decides whether the ranks of a run stop now, and why.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/outcome.h"
#include "ranks/comm/communicator.h"
#include "ranks/stop_request.h"

namespace trainyard {

/// What stops a rank; by default nothing does.
struct StopCauses {
  const StopSignals* signals = nullptr;  // null: they are not handled
  const Clock* clock = nullptr;          // of the time limit; null: there is none
  double end = 0;                        // of the time, in seconds on the clock
};

/// A signal, or the end of `max_seconds` from now on; 0: no time limit.
[[nodiscard]] StopCauses stop_causes(const StopSignals& signals, const Clock& clock,
                                     double max_seconds);

/// All ranks stop after the same step, for the same reason: a signal to any of them, or the time
/// limit. A vote is a call of its own. So where the host takes part in every all-reduce, the ranks
/// vote only once one of them has requested it, with a number that is summed with the results of
/// the step; elsewhere, whenever the host reads results.
class StopVote {
 public:
  /// `queue` is for host memory of `ranks`. `results_kept` is StepOptions::results: with 1 the
  /// host takes part in every all-reduce. The references, and what `causes` points to, must outlive
  /// it.
  StopVote(Communicator& ranks, Queue& queue, const StopCauses& causes, std::int64_t results_kept);
  StopVote(const StopVote&) = delete;
  StopVote& operator=(const StopVote&) = delete;

  /// What every step must sum with its results, once or more often
  /// (GradientReducer::sum_with_results): one element of host memory, the same in every step; no
  /// element if there is nothing to sum. It must not be summed after this object is destroyed.
  [[nodiscard]] SumPart request();
  /// Why to stop after step `step`, or nothing. Called by all ranks before every step, with the
  /// number of steps so far, also between epochs. `edge`: before the first or after the last step
  /// of an epoch.
  [[nodiscard]] std::optional<Outcome> reason(std::int64_t step, bool edge);
  /// The signal that interrupts the run, on whichever rank it arrived; 0 if none.
  [[nodiscard]] int signal() const;
  /// True if a signal has arrived, even if not voted on yet.
  [[nodiscard]] bool signalled() const;

 private:
  [[nodiscard]] int own() const;
  [[nodiscard]] bool is_due(std::int64_t step, bool edge);
  /// Whether any rank had requested a vote before step `step`; then writes this rank's request for
  /// the next one.
  [[nodiscard]] bool exchange_request(std::int64_t step);

  Communicator& ranks_;
  Queue& queue_;
  StopCauses causes_;
  std::int64_t results_kept_;
  double request_ = 0;      // before a step 1 if this rank requests a vote; then all ranks' sum
  bool requested_ = false;  // by any rank, as of the last step
  std::int64_t step_ = 0;   // the last step of which request_ has been read
  int result_ = 0;          // the largest of all ranks' votes
};

}  // namespace trainyard
