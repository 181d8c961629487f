// The address of this machine that others can reach.
#pragma once

#include <string>

namespace trainyard {

/// The numeric address of the interface over which this machine reaches `host` (a name or numeric
/// address): the address at which `host` and its neighbours reach this machine. Sends nothing.
/// Throws Error{device} that names the host if it is unknown or there is no route to it.
[[nodiscard]] std::string own_address_towards(const std::string& host);

}  // namespace trainyard
