// Which ranks run on one machine.
#pragma once

#include <string>

namespace trainyard {

/// Equal in processes that can share memory by their numbers: of one boot of one system, one
/// namespace of processes and one of networks (a container of its own is a machine of its own).
/// Empty where the system does not say.
[[nodiscard]] std::string own_machine();

}  // namespace trainyard
