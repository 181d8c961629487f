#include "ranks/stop_vote.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace trainyard {

namespace {

// A signal handler can reach only statics, and may access only lock-free atomics.
std::atomic<int> stop_signal_seen = 0;
std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Ends the process, unless the signal's default action does not (process 1 of a container).
void raise_by_default(int signal) {
  // All of this is async-signal-safe: a second SIGINT calls it from the handler.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(signal);
}

void on_stop(int signal) {
  if (signal == SIGINT && interrupt_seen.exchange(true)) {
    // Not end_by_signal: ASan allocates memory before a noreturn call, and the signal may have
    // interrupted malloc.
    raise_by_default(SIGINT);
    ::_exit(128 + SIGINT);
  }
  int none = 0;
  stop_signal_seen.compare_exchange_strong(none, signal);
}

void on_nothing(int) {}

// Stack that handlers need in addition to the signal frame, which grows with the CPU's registers.
constexpr std::size_t kHandlerBytes = 64 << 10;

bool ignored_now(int signal) {
  struct sigaction current = {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

// Votes as numbers that ranks can compare: the largest wins.
constexpr int kGoOn = 0, kOutOfTime = 1, kSignal = 2;  // kSignal + the signal

}  // namespace

StopSignals::StopSignals() : stack_(kHandlerBytes + ::getauxval(AT_MINSIGSTKSZ)) {
  const stack_t own{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
  ::sigaltstack(&own, &former_stack_);
  stop_signal_seen = 0;
  interrupt_seen = false;
  for (const int signal : {SIGINT, SIGHUP}) {
    if (!ignored_now(signal)) listen(signal, on_stop);
  }
  listen(SIGTERM, on_stop);
  listen(SIGUSR1, on_stop);
  listen(SIGUSR2, on_nothing);
  listen(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  for (const Former& former : former_) ::sigaction(former.signal, &former.action, nullptr);
  ::sigaltstack(&former_stack_, nullptr);
}

void StopSignals::listen(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART | SA_ONSTACK;  // a save in progress continues
  sigemptyset(&action.sa_mask);
  Former former{signal, {}};
  ::sigaction(signal, &action, &former.action);
  former_.push_back(former);
}

int StopSignals::stop_signal() const { return stop_signal_seen; }

void end_by_signal(int signal) {
  raise_by_default(signal);
  ::_exit(128 + signal);
}

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
