// NVML's stand-in, queried as by the program.
#include "device/cuda/nvml.h"

#include <doctest/doctest.h>

#include "device/cuda/cuda_device.h"

namespace trainyard::cuda {
namespace {

TEST_CASE("GPUs are found by their bus, with the memory of their kind and their links") {
  const Nvml nvml;
  CHECK(nvml.driver_version() != "");
  const auto load = nvml.load_of("0000:03:00.0");
  REQUIRE(load);
  CHECK(load->total_bytes == std::size_t{24564} << 20);
  CHECK(load->busy_percent);
  CHECK_FALSE(nvml.load_of("0000:04:00.0"));
  CHECK(nvml.joined_by_nvlink("0000:01:00.0", "0000:02:00.0"));
  CHECK_FALSE(nvml.joined_by_nvlink("0000:01:00.0", "0000:03:00.0"));
  CHECK(nvml.condition_of("0000:01:00.0").ecc == true);
  CHECK_FALSE(nvml.condition_of("0000:03:00.0").ecc);
}

TEST_CASE("a survey matches the variable") {
  const GpuSurvey found = survey();
  CHECK(found.problem == "");
  REQUIRE(found.gpus.size() == 3);
  CHECK(found.gpus[0].name == "NVIDIA H200");
  CHECK(found.gpus[0].peers == std::vector<int>{1});
  CHECK(found.gpus[0].nvlinks == std::vector<int>{1});
  CHECK(found.gpus[2].peers.empty());
}

}  // namespace
}  // namespace trainyard::cuda
