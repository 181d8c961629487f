#include "device_profiles.h"

#include "formats/json.h"

namespace trainyard::testing {

std::string json_of(const DeviceProfile& profile) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  // cuDNN requires every key of its own export; those that are equal here affect no engine.
  return Json{{"deviceName", profile.name},
              {"deviceVer", profile.compute_capability},
              {"driverVer", 13000},
              {"multiProcessorCount", profile.multiprocessors},
              {"l2CacheSize", profile.l2_bytes},
              {"maxSharedMemoryPerBlock", 49152},
              {"maxSharedMemoryPerBlockOptin", profile.shared_bytes_a_block},
              {"maxThreadsPerSM", profile.threads_a_multiprocessor},
              {"maxCtasPerSM", profile.blocks_a_multiprocessor},
              {"maxThreadsPerBlock", 1024},
              {"maxRegistersPerSM", 65536},
              {"regsPerBlock", 65536},
              {"reservedSharedMemoryPerBlock", 1024},
              {"maxGridSize", {2147483647, 65535, 65535}},
              {"maxBlockSize", {1024, 1024, 64}},
              {"totalGlobalMem", 24 * kGibibyte},
              {"smClockRateKHz", 1980000},
              {"memClockRateKHz", 2619000},
              {"warpSize", 32},
              {"supportCoopLaunch", 1},
              {"isTccDriver", 0},
              {"cudaDeviceId", 0},
              {"pciDeviceId", 0}}
      .dump();
}

cudnn::DescriptorPtr device_properties(const cudnn::Library& library,
                                       const DeviceProfile& profile) {
  auto descriptor = std::make_shared<cudnn::Descriptor>(
      library, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, profile.name);
  const std::string json = json_of(profile);
  descriptor->set_list(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                       std::span<const char>(json.data(), json.size() + 1));
  descriptor->finalize();
  return descriptor;
}

}  // namespace trainyard::testing
