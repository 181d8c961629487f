#include "ranks/rendezvous/watchdog_board.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard {
namespace {

constexpr std::size_t kSteps = 33;  // for the median

double seconds_of(Moment::duration length) { return std::chrono::duration<double>(length).count(); }

std::string limit_text(Milliseconds limit) { return number_text(seconds_of(limit)) + " s"; }

double median_of(const std::deque<double>& values) {
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

}  // namespace

WatchdogBoard::WatchdogBoard(int ranks, const WatchdogLimits& limits, Moment start)
    : limits_(limits), start_(start), ranks_(static_cast<std::size_t>(ranks)) {}

void WatchdogBoard::join(int rank, const std::string& host, Moment now) {
  const bool exists = rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size();
  if (!exists) {
    throw device_error("rank " + std::to_string(rank) + " joined a job of " +
                       std::to_string(ranks_.size()) +
                       " ranks; every rank needs a number of its own from 0");
  }
  Rank& one = ranks_[static_cast<std::size_t>(rank)];
  if (one.state != State::absent) {
    throw device_error("two processes joined as rank " + std::to_string(rank) +
                       "; every rank needs a number of its own");
  }
  one.state = State::there;
  one.host = host;
  one.pulse.operation = "start";
  one.heard = one.progressed = one.step_began = now;
}

void WatchdogBoard::beat(int rank, const Heartbeat& pulse, Moment now) {
  Rank& one = ranks_[static_cast<std::size_t>(rank)];
  one.heard = now;
  if (pulse.ticks == one.pulse.ticks && pulse.step == one.pulse.step) return;
  one.progressed = now;
  if (one.pulse.ticks == 0) one.pulse.step = pulse.step;  // the step it begins at
  const std::int64_t steps = pulse.step - one.pulse.step;
  if (steps > 0) {
    // The first step includes loading and recording: later ones are not judged by it.
    if (one.stepped) {
      one.step_seconds.push_back(seconds_of(now - one.step_began) / static_cast<double>(steps));
    }
    if (one.step_seconds.size() > kSteps) one.step_seconds.pop_front();
    one.stepped = true;
    one.step_began = now;
  }
  one.pulse = pulse;
}

void WatchdogBoard::lose(int rank) {
  Rank& one = ranks_[static_cast<std::size_t>(rank)];
  const bool died = one.state == State::there;
  one.state = State::left;
  if (!died || first_) return;
  first_ = failure_of(rank,
                      "the process is gone: its connection closed without signing off; see its "
                      "log, and whether its machine ran out of memory");
}

void WatchdogBoard::sign_off(int rank) {
  ranks_[static_cast<std::size_t>(rank)].state = State::left;
}

void WatchdogBoard::report(const Failure& failure, Moment now) {
  ranks_[static_cast<std::size_t>(failure.rank)].state = State::told;
  if (first_) return;
  if (!failure.consequence) {
    first_ = failure;
  } else if (!consequence_) {
    consequence_ = failure;
    cause_deadline_ = now + limits_.cause;
  }
}

const std::optional<Failure>& WatchdogBoard::verdict(Moment now) {
  if (!first_) judge_absence(now);
  if (!first_) judge_silence(now);
  if (!first_) judge_progress(now);
  if (!first_ && consequence_ && now >= cause_deadline_) first_ = consequence_;
  return first_;
}

bool WatchdogBoard::others_left(int rank) const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const bool gone = ranks_[i].state == State::left || ranks_[i].state == State::told;
    if (static_cast<int>(i) != rank && !gone) return false;
  }
  return true;
}

Failure WatchdogBoard::failure_of(int rank, std::string text) const {
  const Rank& one = ranks_[static_cast<std::size_t>(rank)];
  return {.rank = rank,
          .host = one.host,
          .step = one.pulse.step,
          .operation = one.pulse.operation,
          .text = std::move(text),
          .exit_code = static_cast<int>(ErrorKind::device)};
}

Milliseconds WatchdogBoard::progress_limit(const Rank& rank) const {
  if (!rank.stepped) return limits_.first_step;
  if (rank.step_seconds.empty()) return limits_.step;
  const std::chrono::duration<double> medians(limits_.median_steps * median_of(rank.step_seconds));
  return std::max(limits_.step, std::chrono::ceil<Milliseconds>(medians));
}

bool WatchdogBoard::all_wait() const {
  return std::ranges::all_of(
      ranks_, [](const Rank& one) { return one.state != State::there || one.pulse.waits; });
}

void WatchdogBoard::judge_absence(Moment now) {
  if (now - start_ < limits_.first_step) return;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].state != State::absent) continue;
    first_ =
        failure_of(static_cast<int>(i), "it did not join within " + limit_text(limits_.first_step) +
                                            "; was it started, and does it reach rank 0?");
    first_->operation = "start";
    return;
  }
}

void WatchdogBoard::judge_silence(Moment now) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& one = ranks_[i];
    if (one.state != State::there || now - one.heard < limits_.silence) continue;
    first_ = failure_of(static_cast<int>(i),
                        "no heartbeat for " + limit_text(limits_.silence) +
                            ": the process is stopped, or its machine or network is gone");
    return;
  }
}

void WatchdogBoard::judge_progress(Moment now) {
  // A waiting rank is not the cause while another one works within its limit. Otherwise the rank
  // furthest behind counts, and then the one without progress for longest.
  const bool judge_waiting = all_wait();
  const Rank* worst = nullptr;
  for (const Rank& one : ranks_) {
    const bool judged = one.state == State::there && (judge_waiting || !one.pulse.waits);
    if (!judged || now - one.progressed < progress_limit(one)) continue;
    const auto progress = [](const Rank& x) { return std::tuple(x.pulse.step, x.progressed); };
    if (worst == nullptr || progress(one) < progress(*worst)) worst = &one;
  }
  if (worst == nullptr) return;
  const std::string why = worst->pulse.waits ? "every rank waits for another one; was a "
                                               "collective called by only some ranks?"
                                             : "the process is alive but hangs";
  first_ = failure_of(static_cast<int>(worst - ranks_.data()),
                      "no progress within " + limit_text(progress_limit(*worst)) + ": " + why);
}

std::string encode_pulse(const Heartbeat& pulse) {
  std::string bytes;
  put_number(bytes, pulse.ticks);
  put_number(bytes, pulse.waits ? 1 : 0);
  return bytes;
}

Heartbeat decode_pulse(std::int64_t step, std::string operation, std::string_view value) {
  FieldReader reader(value);
  Heartbeat pulse{.step = step, .ticks = reader.number(), .operation = std::move(operation)};
  const std::uint64_t waits = reader.number();
  reader.finish();
  if (waits > 1) throw device_error("a heartbeat's fields are out of range");
  pulse.waits = waits == 1;
  return pulse;
}

}  // namespace trainyard
