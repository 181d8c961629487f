// A child process that dies with its launcher, and the signals that a launcher receives.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

struct SpawnCommand {
  fs::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  fs::path folder;                       // where it runs; empty: where the launcher does
};

/// Descriptors of a process's streams; -1: the launcher's.
struct ProcessStreams {
  int out = -1;
  int errors = -1;
};

/// How a process ended: by an exit code, or by a signal.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  // 0: it ended by itself
};

/// A running child in its own process group, so that a terminal's Ctrl-C reaches it only through
/// its launcher. It is killed when the thread that started it ends for any reason. Its stdin is
/// /dev/null. Not copyable; a child that still runs is killed with the object.
class RankProcess {
 public:
  /// Throws Error{device} naming program and reason if it cannot be started.
  RankProcess(const SpawnCommand& command, const ProcessStreams& streams);
  ~RankProcess();
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// How it ended; empty while it runs. Does not wait.
  [[nodiscard]] const std::optional<ProcessEnd>& end();
  /// Sends a signal, unless it has ended.
  void send(int signal);
  /// Kills it and everything it started in its group.
  void kill_group();

 private:
  pid_t pid_ = -1;
  std::optional<ProcessEnd> end_;
};

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
