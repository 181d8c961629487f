// This machine as ranks know it: its address, and which ranks share it.
#pragma once

#include <string>

namespace trainyard {

/// The numeric address of the interface over which this machine reaches `host` (a name or numeric
/// address): the address at which `host` and its neighbours reach this machine. Sends nothing.
/// Throws Error{device} that names the host if it is unknown or there is no route to it.
[[nodiscard]] std::string own_address_towards(const std::string& host);

/// Equal in processes that can share memory by process id and descriptor: same boot of the same
/// system, same process namespace and same network namespace (a separate container counts as a
/// separate machine). Empty if the system does not say.
[[nodiscard]] std::string own_machine();

}  // namespace trainyard
