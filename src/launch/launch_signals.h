// Signals that reach a launcher, one after another.
#pragma once

#include <csignal>
#include <vector>

namespace trainyard {

/// Listens to SIGCHLD, and to SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, which are meant for the
/// ranks, as long as it lives; one at a time in a process. SIGINT and SIGHUP stay ignored where
/// they were (nohup, background jobs). Handlers write into a pipe, so that it does not matter which
/// thread the system interrupts.
class LaunchSignals {
 public:
  /// Throws Error{device} if the system gives no pipe.
  LaunchSignals();
  /// Puts the former actions back.
  ~LaunchSignals();
  LaunchSignals(const LaunchSignals&) = delete;
  LaunchSignals& operator=(const LaunchSignals&) = delete;

  /// Signals that came since the last call, in order. Waits for one, at most `seconds`; below zero
  /// without a limit.
  [[nodiscard]] std::vector<int> wait(double seconds);

 private:
  struct Former {
    int signal;
    struct sigaction action;
  };

  int reading_ = -1;
  int writing_ = -1;
  std::vector<Former> former_;
};

}  // namespace trainyard
