// Requests by signal: stop after this step, or save and continue.
//
// SIGINT, SIGTERM, SIGHUP, SIGUSR1: stop. SIGUSR2: save and continue. A second SIGINT ends the
// process at once. SIGPIPE is ignored. SIGINT and SIGHUP stay ignored if they already were (nohup,
// background jobs).
//
// Handlers run on a stack of their own: oneDNN's generated matrix products meanwhile have theirs in
// a small heap block, which a signal frame would overrun.
#pragma once

#include <csignal>
#include <cstddef>
#include <vector>

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
  /// True if SIGUSR2 has arrived since the last call.
  [[nodiscard]] bool take_save_request();

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

}  // namespace trainyard
