// Ranks of one machine that sum through memory which they share.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "comm/communicator.h"

namespace trainyard {

struct SharedRanksOptions {
  std::string host;     // name of this machine, for messages
  std::string machine;  // own_machine()
  Milliseconds limit;   // of a sum, all that it waits for other ranks included; positive
};

/// `others` with sums through shared memory, in the same order and with the same bits; every other
/// call is handed on to them. `others` themselves, on every rank, unless all ranks are on one
/// machine, of one user, and on a system that lets them share memory and follow each other's ends
/// (Linux 5.3, /proc). For the host's memory. A collective of `others`. Sums after the first take
/// no memory; their errors are those of Communicator, and name a rank whose process has ended, or
/// whose communicator is destroyed. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> share_sums(std::unique_ptr<Communicator> others,
                                                       const SharedRanksOptions& options);

}  // namespace trainyard
