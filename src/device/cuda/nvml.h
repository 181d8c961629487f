// NVML, the driver's library for watching GPUs; opened at run time, since it comes with the driver.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace trainyard::cuda {

/// Memory and work of a GPU at this moment, all processes together.
struct GpuLoad {
  std::size_t total_bytes = 0;
  std::size_t free_bytes = 0;
  std::optional<int> busy_percent;  // share of the last moments in which a kernel ran
};

/// Answers nothing where NVML is not there. Makes no CUDA context.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Of the GPU at this PCI bus id.
  [[nodiscard]] std::optional<GpuLoad> load_of(const std::string& bus) const;
  /// "580.95.05", or "".
  [[nodiscard]] std::string driver_version() const;

 private:
  struct Functions;
  std::unique_ptr<Functions> functions_;  // null: no NVML
};

}  // namespace trainyard::cuda
