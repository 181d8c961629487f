// Which of this machine's addresses others reach it at.
#pragma once

#include <string>

namespace trainyard {

/// The numeric address of the interface over which this machine reaches `host` (a name or numeric
/// address): what `host` and machines beside it reach this one at. Nothing is sent. Throws
/// Error{device} that names the host if it is not known or there is no way to it.
[[nodiscard]] std::string own_address_towards(const std::string& host);

}  // namespace trainyard
