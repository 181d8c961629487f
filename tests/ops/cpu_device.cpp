#include "devices.h"

namespace trainyard::op_tests {

std::vector<DeviceUnderTest> cpu_device() {
  // The network's input is plain; the plan's maps are in blocks of 16 or, without AVX-512, of 8.
  const std::vector<LayoutChoice> layouts{
      {}, {.output_block = 16}, {16, 16}, {.output_block = 8}, {8, 8}};
  return {{"cpu", DType::f32, &make_cpu_executors, layouts, true}};
}

}  // namespace trainyard::op_tests
