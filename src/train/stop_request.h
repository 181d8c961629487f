// What signals ask of a run: stop after this step, or save and go on.
//
// SIGINT, SIGTERM, SIGHUP, SIGUSR1: stop. SIGUSR2: save and go on. A second SIGINT ends the process
// at once. SIGPIPE is ignored. SIGINT and SIGHUP stay ignored where they were (nohup, background
// jobs).
//
// Handlers run on a stack of their own: oneDNN's generated matrix products keep theirs in a small
// block of the heap meanwhile, which the frame of a signal would overrun.
#pragma once

#include <csignal>
#include <cstddef>
#include <vector>

namespace trainyard {

/// Listens to signals as long as it lives; one at a time in a process, made and destroyed by the
/// main thread, which is the one that signals of others interrupt.
class StopSignals {
 public:
  StopSignals();
  /// Puts the former actions back.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first signal that asked to stop, 0 if none has.
  [[nodiscard]] int stop_signal() const;
  /// True if SIGUSR2 came since the last call.
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
/// _exit(128 + signal) where that does not end it (process 1 of a container). Call it after saving
/// and after everything is flushed.
[[noreturn]] void end_by_signal(int signal);

}  // namespace trainyard
