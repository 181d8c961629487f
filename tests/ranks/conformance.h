// Requirements on every communicator: one suite for one rank, Gloo in threads and in processes, and
// groups on devices.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "ranks/comm/communicator.h"

namespace trainyard::testing {

/// Every rank of the group calls it. `device` is that of the communicator's memory. Returns a line
/// for each violation; empty: all well.
[[nodiscard]] std::vector<std::string> breaches_of(Communicator& ranks, Device& device);

/// Number of checks that breaches_of makes on one rank of a group of `ranks`.
[[nodiscard]] int checks_of_conformance(int ranks);

}  // namespace trainyard::testing
