#include "device/cuda/nvml.h"

#include <array>

#include "base/shared_library.h"

namespace trainyard::cuda {
namespace {

// The part of nvml.h (which the toolkit's wheels lack) that is used here.
using Status = int;  // 0: success
struct NvmlDevice;
struct NvmlMemory {
  unsigned long long total, free, used;
};
struct NvmlUtilization {
  unsigned gpu, memory;
};
constexpr Status kSuccess = 0;

}  // namespace

struct Nvml::Functions {
  SharedLibrary library{"libnvidia-ml.so.1"};
  Status (*init)() = library.function<Status()>("nvmlInit_v2");
  Status (*shutdown)() = library.function<Status()>("nvmlShutdown");
  Status (*driver)(char*, unsigned) =
      library.function<Status(char*, unsigned)>("nvmlSystemGetDriverVersion");
  Status (*find)(const char*, NvmlDevice**) =
      library.function<Status(const char*, NvmlDevice**)>("nvmlDeviceGetHandleByPciBusId_v2");
  Status (*memory)(NvmlDevice*, NvmlMemory*) =
      library.function<Status(NvmlDevice*, NvmlMemory*)>("nvmlDeviceGetMemoryInfo");
  Status (*utilization)(NvmlDevice*, NvmlUtilization*) =
      library.function<Status(NvmlDevice*, NvmlUtilization*)>("nvmlDeviceGetUtilizationRates");

  [[nodiscard]] bool complete() const {
    return init != nullptr && shutdown != nullptr && driver != nullptr && find != nullptr &&
           memory != nullptr && utilization != nullptr;
  }
};

Nvml::Nvml() : functions_(std::make_unique<Functions>()) {
  if (!functions_->complete() || functions_->init() != kSuccess) functions_.reset();
}

Nvml::~Nvml() {
  if (functions_) functions_->shutdown();
}

std::optional<GpuLoad> Nvml::load_of(const std::string& bus) const {
  if (!functions_) return std::nullopt;
  NvmlDevice* device = nullptr;
  NvmlMemory memory{};
  if (functions_->find(bus.c_str(), &device) != kSuccess ||
      functions_->memory(device, &memory) != kSuccess) {
    return std::nullopt;
  }
  GpuLoad load{.total_bytes = memory.total, .free_bytes = memory.free, .busy_percent = {}};
  NvmlUtilization utilization{};  // parts of a GPU have none
  if (functions_->utilization(device, &utilization) == kSuccess) {
    load.busy_percent = static_cast<int>(utilization.gpu);
  }
  return load;
}

std::string Nvml::driver_version() const {
  std::array<char, 96> version{};  // NVML's own bound is 80
  if (!functions_ ||
      functions_->driver(version.data(), static_cast<unsigned>(version.size())) != kSuccess) {
    return "";
  }
  return version.data();
}

}  // namespace trainyard::cuda
