#include "compute/devices/cpu_executors.h"
#include "devices.h"

namespace trainyard::op_tests {

std::vector<DeviceUnderTest> cpu_device() {
  // The network's input is plain; the plan's maps are in blocks of 16 or, without AVX-512, of 8.
  const std::vector<LayoutChoice> layouts{
      {}, {.output_block = 16}, {16, 16}, {.output_block = 8}, {8, 8}};
  std::vector<DeviceUnderTest> devices{{"cpu", DType::f32, &make_cpu_executors, layouts, true}};
  // In bf16 every sum has one order, and there are no blocks of 8. A transposed convolution adds
  // its bias to what it has stored.
  if (cpu_executors_have_bf16()) {
    devices.push_back({.name = "cpu bf16",
                       .type = DType::bf16,
                       .make = &make_cpu_executors,
                       .layouts = {{}, {.output_block = 16}, {16, 16}},
                       .extra_roundings = 1});
  }
  return devices;
}

}  // namespace trainyard::op_tests
