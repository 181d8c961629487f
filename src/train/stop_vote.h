// Why a run of one or several ranks should stop now.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "train/rank_group.h"
#include "train/stop_request.h"
#include "train/trainer.h"

namespace trainyard {

/// Ranks stop after the same update, for the same reason: a signal to any of them, or the limit of
/// time.
class StopVote {
 public:
  /// The time counts from here. `max_seconds` 0: no limit. The references must outlive it.
  StopVote(RankGroup& ranks, const StopSignals& signals, const Clock& clock, double max_seconds);
  /// Called by all ranks after update `step`. They vote where one has called for it with the sums
  /// of an update; where those are the device's own (`results_kept` above 1), whenever the host
  /// looks at its results: after as many updates, and at the `edge` of an epoch.
  [[nodiscard]] std::optional<Outcome> reason(std::int64_t step, bool edge,
                                              std::int64_t results_kept);
  /// The signal that interrupts the run, on whatever rank it came; 0 if none does.
  [[nodiscard]] int signal() const;
  /// True if a signal has come, also one that was not voted on.
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
