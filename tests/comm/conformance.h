// What every communicator must do, whatever it is made of: one suite for one rank, Gloo in threads
// and in processes, and groups on devices.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"
#include "device/device.h"

namespace trainyard::testing {

/// Every rank of the group calls it. `device` is where the communicator's memory lies. Returns a
/// line for each thing that was not as it must be; empty: all well.
[[nodiscard]] std::vector<std::string> breaches_of(Communicator& ranks, Device& device);

/// Number of checks that breaches_of makes on one rank of a group of so many.
[[nodiscard]] int checks_of_conformance(int ranks);

}  // namespace trainyard::testing
