// Which ranks run on one machine.
#pragma once

#include <string>

namespace trainyard {

/// Equal in processes that can share memory by process id and descriptor: same boot of the same
/// system, same process namespace and same network namespace (a separate container counts as a
/// separate machine). Empty if the system does not say.
[[nodiscard]] std::string own_machine();

}  // namespace trainyard
