#include "ranks/stop_vote.h"

#include <algorithm>

#include "ranks/comm/communicator.h"

namespace trainyard {

namespace {

// Votes as numbers that ranks can compare: the largest wins.
constexpr int kGoOn = 0, kOutOfTime = 1, kSignal = 2;  // kSignal + the signal

}  // namespace

StopCauses stop_causes(const StopSignals& signals, const Clock& clock, double max_seconds) {
  return {.signals = &signals,
          .clock = max_seconds > 0 ? &clock : nullptr,
          .end = clock.seconds() + max_seconds};
}

StopVote::StopVote(Communicator& ranks, Queue& queue, const StopCauses& causes,
                   std::int64_t results_kept)
    : ranks_(ranks), queue_(queue), causes_(causes), results_kept_(results_kept), result_(kGoOn) {}

SumPart StopVote::request() {
  if (results_kept_ > 1 || ranks_.size() == 1) return {};
  return {&request_, 1, DType::f64};
}

std::optional<Outcome> StopVote::reason(std::int64_t step, bool edge) {
  if (is_due(step, edge)) {
    result_ = ranks_.size() == 1 ? own() : static_cast<int>(largest(ranks_, queue_, own()));
  }
  if (result_ == kGoOn) return std::nullopt;
  return result_ == kOutOfTime ? Outcome::out_of_time : Outcome::interrupted;
}

bool StopVote::is_due(std::int64_t step, bool edge) {
  if (results_kept_ > 1) return edge || step % results_kept_ == 0;
  return ranks_.size() == 1 || exchange_request(step);
}

bool StopVote::exchange_request(std::int64_t step) {
  // Without a step in between, as at the end of an epoch, the number is only this rank's own.
  if (step != step_) requested_ = request_ > 0;
  step_ = step;
  request_ = own() == kGoOn ? 0 : 1;
  return requested_;
}

int StopVote::signal() const { return std::max(result_ - kSignal, 0); }

bool StopVote::signalled() const { return std::max(result_, own()) > kSignal; }

int StopVote::own() const {
  const int signal = causes_.signals != nullptr ? causes_.signals->stop_signal() : 0;
  if (signal != 0) return kSignal + signal;
  const bool late = causes_.clock != nullptr && causes_.clock->seconds() >= causes_.end;
  return late ? kOutOfTime : kGoOn;
}

}  // namespace trainyard
