#include "ranks/stop_request.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>

namespace trainyard {

namespace {

// A signal handler can reach only statics, and may access only lock-free atomics.
std::atomic<int> stop_signal_seen = 0;
std::atomic<bool> interrupt_seen = false;
std::atomic<bool> save_requested = false;
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

void on_save(int) { save_requested = true; }

// Stack that handlers need in addition to the signal frame, which grows with the CPU's registers.
constexpr std::size_t kHandlerBytes = 64 << 10;

bool ignored_now(int signal) {
  struct sigaction current = {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() : stack_(kHandlerBytes + ::getauxval(AT_MINSIGSTKSZ)) {
  const stack_t own{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
  ::sigaltstack(&own, &former_stack_);
  stop_signal_seen = 0;
  interrupt_seen = false;
  save_requested = false;
  for (const int signal : {SIGINT, SIGHUP}) {
    if (!ignored_now(signal)) listen(signal, on_stop);
  }
  listen(SIGTERM, on_stop);
  listen(SIGUSR1, on_stop);
  listen(SIGUSR2, on_save);
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

bool StopSignals::take_save_request() { return save_requested.exchange(false); }

void end_by_signal(int signal) {
  raise_by_default(signal);
  ::_exit(128 + signal);
}

}  // namespace trainyard
