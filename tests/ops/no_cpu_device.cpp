#include "devices.h"

namespace trainyard::op_tests {

std::vector<DeviceUnderTest> cpu_device() { return {}; }

}  // namespace trainyard::op_tests
