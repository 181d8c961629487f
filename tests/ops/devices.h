// The devices that the harness compares with the reference in double.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bound_case.h"
#include "compute/executor.h"

namespace trainyard::op_tests {

struct DeviceUnderTest {
  std::string name;
  DType type;  // storage type of activations
  std::unique_ptr<ExecutorFactory> (*make)();
  /// Layouts that the device's plans use.
  std::vector<LayoutChoice> layouts;
  /// True if sums may be split differently with another number of threads (oneDNN).
  bool threads_change_bits = false;
  /// Types of the ops that it tests; empty: all.
  std::vector<std::string_view> ops = {};
  /// Roundings of stored results in addition to the one on every device (tolerance.h).
  double extra_roundings = 0;
};

/// The CPU through oneDNN, or nothing in a build without oneDNN (cpu_device.cpp or
/// no_cpu_device.cpp, as CMake chooses).
[[nodiscard]] std::vector<DeviceUnderTest> cpu_device();

/// Batch norm and pooling by the functors that GPUs run, in every type.
[[nodiscard]] std::vector<DeviceUnderTest> functor_devices();

/// Every device of this program (devices.cpp, or gpu_device.cpp in the GPU's test).
[[nodiscard]] std::vector<DeviceUnderTest> devices_under_test();

/// Derived classes make executors of ops; a case has neither reorders nor sums of gradients.
class OpExecutors : public ExecutorFactory {
 public:
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout&, DType, const Layout&, DType,
                                                       int) const override {
    TY_CHECK(false, "a case has no reorders");
    return nullptr;
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout&, DType,
                                                          int) const override {
    TY_CHECK(false, "a case has no sums of gradients");
    return nullptr;
  }
  [[nodiscard]] std::string libraries() const override { return ""; }
};

}  // namespace trainyard::op_tests
