// NVML, the driver's library for monitoring GPUs; opened at run time, since it comes with the
// driver.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/shared_library.h"
#include "device/gpu_survey.h"

/// The part of NVML that is used, as a function table. The toolkit's wheels lack nvml.h; types and
/// numbers are those of its binary interface, which does not change.
namespace trainyard::cuda::nvml {

using Status = int;  // 0: success
inline constexpr Status kSuccess = 0;

struct Gpu;
struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
/// What connects GPUs through NVSwitch. The state is 0 (none), 1 (not started), 2 (starting) or 3
/// (done).
struct Fabric {
  unsigned char cluster[16];
  Status status;
  unsigned clique;
  unsigned char state;
};

/// All but the first three may be null: drivers differ in what they offer.
struct Functions {
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*find)(const char* bus, Gpu**) = nullptr;
  Status (*driver)(char* text, unsigned bytes) = nullptr;
  Status (*memory)(Gpu*, Memory*) = nullptr;
  Status (*utilization)(Gpu*, Utilization*) = nullptr;
  Status (*mig)(Gpu*, unsigned* now, unsigned* pending) = nullptr;
  Status (*ecc)(Gpu*, unsigned* now, unsigned* pending) = nullptr;
  Status (*remapped_rows)(Gpu*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                          unsigned* failed) = nullptr;
  Status (*fabric)(Gpu*, Fabric*) = nullptr;
  Status (*clock)(Gpu*, unsigned which, unsigned* mhz) = nullptr;
  Status (*most_clock)(Gpu*, unsigned which, unsigned* mhz) = nullptr;
  Status (*slowed_by)(Gpu*, unsigned long long* reasons) = nullptr;
  Status (*power_limit)(Gpu*, unsigned* milliwatts) = nullptr;
  Status (*peer)(Gpu*, Gpu* other, unsigned which, unsigned* status) = nullptr;
};

/// Functions of an open library; all null if it is not open.
[[nodiscard]] Functions functions_of(const SharedLibrary& library);

}  // namespace trainyard::cuda::nvml

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
