// The name of this machine.
#pragma once

#include <string>

namespace trainyard {

/// The system's host name, for messages and records; "" if it has none.
[[nodiscard]] std::string host_name();
/// The model of its processor, "AMD EPYC 9R14"; "" if /proc/cpuinfo does not name it.
[[nodiscard]] std::string processor_name();

}  // namespace trainyard
