#include "devices.h"

namespace trainyard::op_tests {

std::vector<DeviceUnderTest> devices_under_test() {
  const std::vector<LayoutChoice> every_layout{
      {}, {.output_block = 16}, {16, 16}, {8, 8}, {.input_block = 16}, {.channels_last = true}};
  std::vector<DeviceUnderTest> devices{
      {"reference f64", DType::f64, &make_reference_executors, every_layout},
      {"reference f32", DType::f32, &make_reference_executors, every_layout},
      {"reference bf16", DType::bf16, &make_reference_executors, every_layout},
      {"reference f16", DType::f16, &make_reference_executors, every_layout},
  };
  for (DeviceUnderTest& cpu : cpu_device()) devices.push_back(std::move(cpu));
  for (DeviceUnderTest& functors : functor_devices()) devices.push_back(std::move(functors));
  return devices;
}

}  // namespace trainyard::op_tests
