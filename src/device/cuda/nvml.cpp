#include "device/cuda/nvml.h"

#include <array>
#include <utility>

namespace trainyard::cuda {

nvml::Functions nvml::functions_of(const SharedLibrary& library) {
  Functions all;
  find_functions(library, {{"nvmlInit_v2", all.init},
                           {"nvmlShutdown", all.shutdown},
                           {"nvmlDeviceGetHandleByPciBusId_v2", all.find},
                           {"nvmlSystemGetDriverVersion", all.driver},
                           {"nvmlDeviceGetMemoryInfo", all.memory},
                           {"nvmlDeviceGetUtilizationRates", all.utilization},
                           {"nvmlDeviceGetMigMode", all.mig},
                           {"nvmlDeviceGetEccMode", all.ecc},
                           {"nvmlDeviceGetRemappedRows", all.remapped_rows},
                           {"nvmlDeviceGetGpuFabricInfo", all.fabric},
                           {"nvmlDeviceGetClockInfo", all.clock},
                           {"nvmlDeviceGetMaxClockInfo", all.most_clock},
                           {"nvmlDeviceGetCurrentClocksThrottleReasons", all.slowed_by},
                           {"nvmlDeviceGetPowerManagementLimit", all.power_limit},
                           {"nvmlDeviceGetP2PStatus", all.peer}});
  return all;
}

namespace {

using nvml::kSuccess;

/// The value that a call writes through its last pointer; empty if the call is missing or fails.
template <class T, class Call, class... Arguments>
std::optional<T> asked(Call* call, Arguments... arguments) {
  T value{};
  if (call == nullptr || call(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

/// For a setting that has a current and a pending value.
template <class Call>
std::optional<bool> is_on(Call* call, nvml::Gpu* gpu) {
  unsigned now = 0, next = 0;
  if (call == nullptr || call(gpu, &now, &next) != kSuccess) return std::nullopt;
  return now != 0;
}

void ask_rows(const nvml::Functions& call, nvml::Gpu* gpu, GpuCondition& found) {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (call.remapped_rows == nullptr ||
      call.remapped_rows(gpu, &corrected, &uncorrected, &pending, &failed) != kSuccess) {
    return;
  }
  found.rows_pending = pending != 0;
  found.rows_failed = failed != 0;
}

std::string fabric_text(const nvml::Fabric& fabric) {
  if (fabric.state == 0) return "";
  if (fabric.state == 1) return "not started";
  if (fabric.state == 2) return "starting";
  return fabric.status == kSuccess ? "started" : "failed";
}

/// What holds the clocks below their maximum; idling does not count.
std::vector<std::string> reasons_text(unsigned long long reasons) {
  constexpr std::array<std::pair<unsigned long long, const char*>, 7> kReasons = {{
      {0x2, "set clocks"},
      {0x4, "power cap"},
      {0x8, "hardware slowdown"},
      {0x10, "the slowest GPU (sync boost)"},
      {0x20, "heat"},
      {0x40, "heat (hardware)"},
      {0x80, "power brake"},
  }};
  std::vector<std::string> list;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) list.emplace_back(name);
  }
  return list;
}

constexpr unsigned kSmClock = 1, kMemoryClock = 2;
constexpr unsigned kNvlink = 2;  // the query of nvmlDeviceGetP2PStatus; 0 means yes

}  // namespace

Nvml::Nvml() : library_("libnvidia-ml.so.1"), call_(nvml::functions_of(*library_)) {
  ready_ = call_.init != nullptr && call_.shutdown != nullptr && call_.find != nullptr &&
           call_.init() == kSuccess;
}

Nvml::Nvml(const nvml::Functions& functions) : call_(functions), ready_(call_.init() == kSuccess) {}

Nvml::~Nvml() {
  if (ready_) call_.shutdown();
}

nvml::Gpu* Nvml::find(const std::string& bus) const {
  return ready_ ? asked<nvml::Gpu*>(call_.find, bus.c_str()).value_or(nullptr) : nullptr;
}

std::optional<GpuLoad> Nvml::load_of(const std::string& bus) const {
  nvml::Gpu* gpu = find(bus);
  if (gpu == nullptr) return std::nullopt;
  const auto memory = asked<nvml::Memory>(call_.memory, gpu);
  if (!memory) return std::nullopt;
  GpuLoad load{.total_bytes = memory->total, .free_bytes = memory->free, .busy_percent = {}};
  const auto utilization = asked<nvml::Utilization>(call_.utilization, gpu);  // MIG parts have none
  if (utilization) load.busy_percent = static_cast<int>(utilization->gpu);
  return load;
}

GpuCondition Nvml::condition_of(const std::string& bus) const {
  GpuCondition found;
  nvml::Gpu* gpu = find(bus);
  if (gpu == nullptr) return found;
  found.mig = is_on(call_.mig, gpu);
  found.ecc = is_on(call_.ecc, gpu);
  ask_rows(call_, gpu, found);
  if (const auto fabric = asked<nvml::Fabric>(call_.fabric, gpu)) {
    found.fabric = fabric_text(*fabric);
  }
  found.sm_mhz = asked<unsigned>(call_.clock, gpu, kSmClock);
  found.most_sm_mhz = asked<unsigned>(call_.most_clock, gpu, kSmClock);
  found.memory_mhz = asked<unsigned>(call_.clock, gpu, kMemoryClock);
  if (const auto limit = asked<unsigned>(call_.power_limit, gpu)) {
    found.power_limit_watts = *limit / 1000.0;
  }
  if (const auto reasons = asked<unsigned long long>(call_.slowed_by, gpu)) {
    found.slowed_by = reasons_text(*reasons);
  }
  return found;
}

bool Nvml::joined_by_nvlink(const std::string& bus, const std::string& other) const {
  nvml::Gpu* one = find(bus);
  nvml::Gpu* two = find(other);
  if (one == nullptr || two == nullptr) return false;
  const auto status = asked<unsigned>(call_.peer, one, two, kNvlink);
  return status && *status == 0;
}

std::string Nvml::driver_version() const {
  std::array<char, 96> version{};  // NVML's own bound is 80
  if (!ready_ || call_.driver == nullptr ||
      call_.driver(version.data(), static_cast<unsigned>(version.size())) != kSuccess) {
    return "";
  }
  return version.data();
}

}  // namespace trainyard::cuda
