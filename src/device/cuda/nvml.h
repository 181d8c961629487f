// NVML, the driver's library for monitoring GPUs; opened at run time, since it comes with the
// driver.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/shared_library.h"
#include "device/cuda/nvml_functions.h"
#include "device/gpu_survey.h"

namespace trainyard::cuda {

/// Current memory and utilization of a GPU, over all processes.
struct GpuLoad {
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;
  std::optional<int> busy_percent;  // share of the recent past in which a kernel ran
};

/// Returns nothing if NVML is missing. Creates no CUDA context. GPUs are named by their PCI bus.
class Nvml {
 public:
  Nvml();
  /// One with these functions.
  explicit Nvml(const nvml::Functions& functions);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::optional<GpuLoad> load_of(const std::string& bus) const;
  [[nodiscard]] GpuCondition condition_of(const std::string& bus) const;
  [[nodiscard]] bool joined_by_nvlink(const std::string& bus, const std::string& other) const;
  /// "580.95.05", or "".
  [[nodiscard]] std::string driver_version() const;

 private:
  [[nodiscard]] nvml::Gpu* find(const std::string& bus) const;

  std::optional<SharedLibrary> library_;  // empty: the functions were given
  nvml::Functions call_;
  bool ready_ = false;
};

}  // namespace trainyard::cuda
