// Requests to stop, by signal or time, and the vote of the ranks of a run on them.
//
// SIGINT, SIGTERM, SIGHUP, SIGUSR1: stop. SIGUSR2, which jobs may pass on: nothing. A second
// SIGINT ends the process at once. SIGPIPE is ignored. SIGINT and SIGHUP stay ignored if they
// already were (nohup, background jobs).
//
// Handlers run on a stack of their own: oneDNN's generated matrix products meanwhile have theirs in
// a small heap block, which a signal frame would overrun.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/outcome.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// Handles signals during its lifetime; one at a time per process, created and destroyed by the
/// main thread, which is the one that external signals interrupt.
class StopSignals {
 public:
  StopSignals();
  /// Restores the former actions.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first stop signal received, 0 if none.
  [[nodiscard]] int stop_signal() const;

 private:
  struct Former {
    int signal;
    struct sigaction action;
  };
  void listen(int signal, void (*handler)(int));

  std::vector<Former> former_;
  std::vector<std::byte> stack_;
  stack_t former_stack_ = {};
};

/// Ends the process as `signal` would have, so that shells see it: default action, raise, and
/// _exit(128 + signal) if that does not end it (process 1 of a container). Call it after saving and
/// flushing everything.
[[noreturn]] void end_by_signal(int signal);

/// What stops a rank; by default nothing does.
struct StopCauses {
  const StopSignals* signals = nullptr;  // null: they are not handled
  const Clock* clock = nullptr;          // clock of the time limit; null: there is none
  double end = 0;                        // end of the time, in seconds on the clock
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
  double request_ = 0;      // 1 before a step if this rank requests a vote; then all ranks' sum
  bool requested_ = false;  // some rank has requested it, as of the last step
  std::int64_t step_ = 0;   // the last step of which request_ has been read
  int result_ = 0;          // the largest of all ranks' votes
};

}  // namespace trainyard
