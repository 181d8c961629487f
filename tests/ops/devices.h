// The devices that the harness compares with the reference in double.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bound_case.h"

namespace trainyard::op_tests {

struct DeviceUnderTest {
  std::string name;
  DType type;  // that activations are stored in
  std::unique_ptr<ExecutorFactory> (*make)();
  /// Layouts that the device's plans hold.
  std::vector<LayoutChoice> layouts;
  /// True if sums may be cut differently with another number of threads (oneDNN).
  bool threads_change_bits = false;
};

/// The CPU through oneDNN, or nothing where the build leaves oneDNN out (cpu_device.cpp or
/// no_cpu_device.cpp, as CMake chooses).
[[nodiscard]] std::vector<DeviceUnderTest> cpu_device();

/// Every device of this build.
[[nodiscard]] std::vector<DeviceUnderTest> devices_under_test();

}  // namespace trainyard::op_tests
