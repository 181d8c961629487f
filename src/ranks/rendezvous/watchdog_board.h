// Decides which rank failed first. No sockets and no clock of its own.
//
// A failure is a connection closed without signing off, silence, no progress within a limit, a rank
// that never appeared, or a reported error. The first one is sent to all ranks.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ranks/rendezvous/failure.h"
#include "ranks/rendezvous/socket.h"

namespace trainyard {

/// How long a rank may take before it has failed.
struct WatchdogLimits {
  Milliseconds first_step{300'000};  // until it joins, and then until its step changes
  Milliseconds step{60'000};         // without progress from then on, or
  double median_steps = 20;          // this many median steps, whichever is longer
  Milliseconds silence{30'000};      // without a heartbeat: the process is stopped
  Milliseconds cause{2'000};         // how long a failed collective waits for its cause
};

/// The contents of a heartbeat.
struct Heartbeat {
  std::int64_t step = 0;
  std::uint64_t ticks = 0;  // calls of Watchdog::progress so far
  std::string operation;
  bool waits = false;  // the operation ends only when other ranks do the same
};

/// Collects the ranks' reports and finds the first failure. Ranks are 0 to ranks - 1.
class WatchdogBoard {
 public:
  WatchdogBoard(int ranks, const WatchdogLimits& limits, Moment start);

  /// Throws Error{device} if there is no such rank, or if it has already joined.
  void join(int rank, const std::string& host, Moment now);
  void beat(int rank, const Heartbeat& pulse, Moment now);
  /// Its connection closed: it died, unless it has reported a failure or signed off.
  void lose(int rank);
  void sign_off(int rank);
  /// The rank reports its own failure.
  void report(const Failure& failure, Moment now);

  /// Judges the ranks. The first failure found is final.
  [[nodiscard]] const std::optional<Failure>& verdict(Moment now);
  /// True if every rank but `rank` has joined and left.
  [[nodiscard]] bool others_left(int rank) const;

 private:
  enum class State { absent, there, told, left };
  struct Rank {
    State state = State::absent;
    std::string host;
    Heartbeat pulse;
    bool stepped = false;  // its step has changed since its first heartbeat
    Moment heard, progressed, step_began;
    std::deque<double> step_seconds;  // durations of recent steps
  };

  [[nodiscard]] Failure failure_of(int rank, std::string text) const;
  [[nodiscard]] Milliseconds progress_limit(const Rank& rank) const;
  [[nodiscard]] bool all_wait() const;
  void judge_absence(Moment now);
  void judge_silence(Moment now);
  void judge_progress(Moment now);

  WatchdogLimits limits_;
  Moment start_;
  std::vector<Rank> ranks_;
  std::optional<Failure> first_;
  std::optional<Failure> consequence_;  // waits for its cause until cause_deadline_
  Moment cause_deadline_;
};

/// Heartbeat::ticks and waits, as the value of a beat.
[[nodiscard]] std::string encode_pulse(const Heartbeat& pulse);
/// From the fields of a beat. Throws Error{device} for bytes not made by encode_pulse().
[[nodiscard]] Heartbeat decode_pulse(std::int64_t step, std::string operation,
                                     std::string_view value);

}  // namespace trainyard
