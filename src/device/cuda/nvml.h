// NVML, the driver's library for watching GPUs; opened at run time, since it comes with the driver.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/shared_library.h"
#include "device/cuda/nvml_functions.h"
#include "device/gpu_survey.h"

namespace trainyard::cuda {

/// Memory and work of a GPU at this moment, all processes together.
struct GpuLoad {
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;
  std::optional<int> busy_percent;  // share of the last moments in which a kernel ran
};

/// Answers nothing where NVML is not there. Makes no CUDA context. GPUs are named by their PCI bus.
class Nvml {
 public:
  Nvml();
  /// One whose functions are these.
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

  std::optional<SharedLibrary> library_;  // none: the functions were given
  nvml::Functions call_;
  bool ready_ = false;
};

}  // namespace trainyard::cuda
