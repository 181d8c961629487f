// Decides whether a run of one or several ranks should stop now, and why.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "train/rank_group.h"
#include "train/stop_request.h"
#include "train/trainer.h"

namespace trainyard {

/// All ranks stop after the same step, for the same reason: a signal to any of them, or the time
/// limit.
class StopVote {
 public:
  /// The time limit counts from here. `max_seconds` 0: no limit. The references must outlive it.
  StopVote(RankGroup& ranks, const StopSignals& signals, const Clock& clock, double max_seconds);
  /// Called by all ranks after step `step`. They vote if a rank has requested it with the step's
  /// all-reduce; if the device does that by itself (`results_kept` above 1), whenever the host
  /// reads its results: every `results_kept` steps, and at the `edge` of an epoch.
  [[nodiscard]] std::optional<Outcome> reason(std::int64_t step, bool edge,
                                              std::int64_t results_kept);
  /// The signal that interrupts the run, on whichever rank it arrived; 0 if none.
  [[nodiscard]] int signal() const;
  /// True if a signal has arrived, even if not voted on yet.
  [[nodiscard]] bool signalled() const;

 private:
  [[nodiscard]] int own() const;

  RankGroup& ranks_;
  const StopSignals& signals_;
  const Clock& clock_;
  double max_seconds_;
  double begun_;    // on the clock
  int result_ = 0;  // the largest of all ranks' votes
};

}  // namespace trainyard
