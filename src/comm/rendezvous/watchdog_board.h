// The judgement over all ranks: which of them failed first. No sockets and no clock of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "comm/rendezvous/failure.h"
#include "comm/rendezvous/socket.h"

namespace trainyard {

/// How long a rank may take before it has failed.
struct WatchdogLimits {
  Milliseconds first_step{300'000};  // until it joins, and then until its step changes
  Milliseconds step{60'000};         // without any progress from then on, or
  double median_steps = 20;          // so many of its median step, whichever is longer
  Milliseconds silence{30'000};      // without a heartbeat: the process is stopped
  Milliseconds cause{2'000};         // that a failed collective waits for the failure behind it
};

/// What a heartbeat says.
struct Heartbeat {
  std::int64_t step = 0;
  std::uint64_t ticks = 0;  // calls of Watchdog::progress so far
  std::string operation;
  bool waits = false;  // the operation ends only when other ranks do the same
};

/// Keeps what the ranks say and finds the first failure. Ranks lie in 0 to ranks - 1.
class WatchdogBoard {
 public:
  WatchdogBoard(int ranks, const WatchdogLimits& limits, Moment start);

  /// Throws Error{device} if there is no such rank, or if it has joined before.
  void join(int rank, const std::string& host, Moment now);
  void beat(int rank, const Heartbeat& pulse, Moment now);
  /// Its connection closed: it died, unless it has reported why, or signed off.
  void lose(int rank);
  void sign_off(int rank);
  /// It says itself what happened to it.
  void report(const Failure& failure, Moment now);

  /// Judges the ranks. The first failure found is the one, for ever.
  [[nodiscard]] const std::optional<Failure>& verdict(Moment now);
  /// True if every rank but `rank` has joined and left.
  [[nodiscard]] bool others_left(int rank) const;

 private:
  enum class State { absent, there, told, left };
  struct Rank {
    State state = State::absent;
    std::string host;
    Heartbeat pulse;
    bool stepped = false;  // its step has changed since the first that it told of
    Moment heard, progressed, step_began;
    std::deque<double> step_seconds;  // of the latest steps
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
  std::optional<Failure> consequence_;  // waits for its cause until
  Moment cause_deadline_;
};

/// Heartbeat::ticks and waits, as the value of a beat.
[[nodiscard]] std::string encode_pulse(const Heartbeat& pulse);
/// From the fields of a beat. Throws Error{device} for bytes that encode_pulse() does not make.
[[nodiscard]] Heartbeat decode_pulse(std::int64_t step, std::string operation,
                                     std::string_view value);

}  // namespace trainyard
