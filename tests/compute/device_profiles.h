// GPUs that are not available here, as cuDNN describes them in JSON since 9.8.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compute/conv/cudnn/library.h"

namespace trainyard::testing {

/// The properties of a GPU that cuDNN's heuristics and engines query and that differ by model.
struct DeviceProfile {
  const char* name;
  int compute_capability;  // 900: 9.0
  int multiprocessors;
  int shared_bytes_a_block;  // at most, by opt-in
  std::int64_t l2_bytes;
  int threads_a_multiprocessor;
  int blocks_a_multiprocessor;
};

/// From NVIDIA's data sheets and the tables of the CUDA programming guide.
inline constexpr std::array<DeviceProfile, 4> kDeviceProfiles{{
    {"NVIDIA H200", 900, 132, 232448, 52428800, 2048, 32},
    {"NVIDIA A100-SXM4-80GB", 800, 108, 166912, 41943040, 2048, 32},
    {"NVIDIA GeForce RTX 4090", 890, 128, 101376, 75497472, 1536, 24},
    {"NVIDIA GeForce RTX 5090", 1200, 170, 101376, 100663296, 1536, 24},
}};

[[nodiscard]] std::string json_of(const DeviceProfile& profile);

/// The GPU as a descriptor for cuDNN's heuristics and plans; needs neither the GPU nor a driver.
[[nodiscard]] cudnn::DescriptorPtr device_properties(const cudnn::Library& library,
                                                     const DeviceProfile& profile);

}  // namespace trainyard::testing
