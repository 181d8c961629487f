#include "train/stop_vote.h"

#include <algorithm>

namespace trainyard {

namespace {

// Votes as numbers that ranks can compare: the largest wins.
constexpr int kGoOn = 0, kOutOfTime = 1, kSignal = 2;  // kSignal + the signal

}  // namespace

StopVote::StopVote(RankGroup& ranks, const StopSignals& signals, const Clock& clock,
                   double max_seconds)
    : ranks_(ranks),
      signals_(signals),
      clock_(clock),
      max_seconds_(max_seconds),
      begun_(clock.seconds()),
      result_(kGoOn) {}

std::optional<Outcome> StopVote::reason(std::int64_t step, bool edge, std::int64_t results_kept) {
  if (results_kept == 1 && own() != kGoOn) ranks_.call_vote();
  const bool due = results_kept == 1 ? ranks_.vote_called() : edge || step % results_kept == 0;
  if (due) result_ = ranks_.largest(own());
  if (result_ == kGoOn) return std::nullopt;
  return result_ == kOutOfTime ? Outcome::out_of_time : Outcome::interrupted;
}

int StopVote::signal() const { return std::max(result_ - kSignal, 0); }

bool StopVote::signalled() const { return std::max(result_, own()) > kSignal; }

int StopVote::own() const {
  const int signal = signals_.stop_signal();
  if (signal != 0) return kSignal + signal;
  const bool late = max_seconds_ > 0 && clock_.seconds() - begun_ >= max_seconds_;
  return late ? kOutOfTime : kGoOn;
}

}  // namespace trainyard
