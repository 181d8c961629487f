// A process that runs comm_rank (rank_program.cpp), and what it prints.
#pragma once

#include <sys/types.h>

#include <string>

#include "ranks/rendezvous/socket.h"

namespace trainyard::testing {

class RankProgram {
 public:
  /// Port 0: it is rank 0 and takes a free one, see port().
  RankProgram(const std::string& work, int rank, int ranks, std::uint16_t port);
  /// Kills it if it is still running.
  ~RankProgram();
  RankProgram(const RankProgram&) = delete;
  RankProgram& operator=(const RankProgram&) = delete;

  /// The next line that it prints; "" once it has closed its output.
  [[nodiscard]] std::string line();
  /// From the line "port P".
  [[nodiscard]] std::uint16_t port();
  void signal(int number) const;
  /// Waits for it to end: exit code, or 128 + the signal.
  int wait();

 private:
  pid_t process_ = -1;
  Descriptor output_;
  std::string received_;
};

/// The token of these processes.
inline constexpr const char* kRankToken = "token of the test";

}  // namespace trainyard::testing
