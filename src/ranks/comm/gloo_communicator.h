// Collectives on CPUs, and control traffic among all ranks, over TCP with Gloo.
#pragma once

#include <memory>
#include <string>

#include "ranks/comm/communicator.h"
#include "ranks/rendezvous/store.h"

namespace trainyard {

struct GlooOptions {
  // Simultaneous groups over one store need different names: their keys begin with the name.
  std::string group = "ranks";
  // Where the other ranks reach this machine: the address of a network interface ("eth0"), or that
  // of a host name. At most one of them; both empty: that of the machine's own name.
  std::string interface;
  std::string address;
  std::string host;               // name of this machine, for messages
  Milliseconds connect{300'000};  // how long the other ranks may take to appear
  Milliseconds limit{300'000};    // limit of a call, including all waits for other ranks; positive
};

/// Joins the group; every rank from 0 to ranks - 1 must. The communicator works on host memory. A
/// call with the same address and size as an earlier one allocates nothing. Throws Error{device} if
/// the interface or address is not of this machine, or a rank does not appear. A group of one rank
/// does not wait. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> make_gloo_communicator(int rank, int ranks,
                                                                   Store& store,
                                                                   const GlooOptions& options);

}  // namespace trainyard
