// Ranks on CPUs, and control traffic among all ranks, over TCP by Gloo.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.h"
#include "comm/rendezvous/store.h"

namespace trainyard {

struct GlooOptions {
  // Groups over one store at the same time need different names: their keys begin with it.
  std::string group = "ranks";
  // Where the other ranks reach this machine: the address of a network interface ("eth0"), or that
  // of a name. One of them at most; both empty: that of the machine's own name.
  std::string interface;
  std::string address;
  std::string host;               // name of this machine, for messages
  Milliseconds connect{300'000};  // that the other ranks may take to appear
  Milliseconds limit{300'000};    // of a call, all that it waits for other ranks included; positive
};

/// Joins the group; every rank from 0 to ranks - 1 does. The communicator's memory is the host's.
/// No memory is taken by a call that has been made before with the same address and size. Throws
/// Error{device} if the interface or address is none of this machine, or a rank does not appear.
/// A group of one rank waits for nobody. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> make_gloo_communicator(int rank, int ranks,
                                                                   Store& store,
                                                                   const GlooOptions& options);

}  // namespace trainyard
