// All-reduce through shared memory for ranks of one machine.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

struct SharedRanksOptions {
  std::string host;     // name of this machine, for messages
  std::string machine;  // own_machine()
  Milliseconds limit;   // of a call, including all waits for other ranks; positive
};

/// `others` with sums through shared memory, in the same order and bit-identical; all other calls
/// are forwarded to `others`. Returns `others` itself, on every rank, unless all ranks are on one
/// machine, of one user, and on a system that lets them share memory and watch each other's
/// processes (Linux 5.3, /proc). For host memory. Calling it is a collective of `others`. The ranks
/// wait for each other twice per 256 KiB, however many sums of one call these are (sum_pieces.h).
/// Sums after the first allocate nothing; their errors are those of Communicator, and name a rank
/// whose process has ended or whose communicator is destroyed. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> share_sums(std::unique_ptr<Communicator> others,
                                                       const SharedRanksOptions& options);

}  // namespace trainyard
