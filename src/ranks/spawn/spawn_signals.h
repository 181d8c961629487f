// The signals that a launcher receives, in order.
#pragma once

#include <csignal>
#include <vector>

namespace trainyard {

/// Handles SIGCHLD, and SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, which are meant for the
/// ranks, for its lifetime; at most one object per process at a time. SIGINT and SIGHUP stay
/// ignored if they were (nohup, background jobs). Handlers write into a pipe, so it does not matter
/// which thread is interrupted.
class SpawnSignals {
 public:
  /// Throws Error{device} if no pipe can be created.
  SpawnSignals();
  /// Restores the former actions.
  ~SpawnSignals();
  SpawnSignals(const SpawnSignals&) = delete;
  SpawnSignals& operator=(const SpawnSignals&) = delete;

  /// The signals received since the last call, in order. Waits for one for at most `seconds`;
  /// negative: without a limit.
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
