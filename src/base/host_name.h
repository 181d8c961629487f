// The name of this machine.
#pragma once

#include <string>

namespace trainyard {

/// The system's host name, for messages and records; "" if it has none.
[[nodiscard]] std::string host_name();

}  // namespace trainyard
