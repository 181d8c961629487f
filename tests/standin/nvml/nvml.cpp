// NVML over the GPUs of the stand-in's machine. GPUs are named by their PCI bus; numbers are those
// of NVML's interface (nvml.h, which is in no package), as in src/device/cuda/nvml.h.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/kinds.h"
#include "runtime/usage.h"

namespace {

using Status = int;
constexpr Status kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6;
constexpr unsigned kSmClock = 1, kMemoryClock = 2, kNvlink = 2;

/// A handle; NVML returns its address.
struct Handle {
  int installed = 0;
  std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now();
  std::chrono::nanoseconds busy{0};
};

struct Memory {
  unsigned long long total, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};

std::vector<Handle>& handles() {
  static std::vector<Handle> all = [] {
    std::vector<Handle> made(standin::installed_gpus().size());
    for (std::size_t i = 0; i < made.size(); ++i) made[i].installed = static_cast<int>(i);
    return made;
  }();
  return all;
}

const standin::Gpu& gpu_of(const Handle& handle) {
  return standin::installed_gpus()[static_cast<std::size_t>(handle.installed)];
}

std::mutex mutex;

}  // namespace

extern "C" {

Status nvmlInit_v2() { return kSuccess; }

Status nvmlShutdown() { return kSuccess; }

Status nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Handle** handle) {
  for (Handle& one : handles()) {
    if (standin::bus_of(one.installed) != bus) continue;
    *handle = &one;
    return kSuccess;
  }
  return kNotFound;
}

Status nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::snprintf(text, bytes, "580.00.stand-in");
  return kSuccess;
}

Status nvmlDeviceGetMemoryInfo(Handle* handle, Memory* memory) {
  const unsigned long long total = gpu_of(*handle).bytes;
  const unsigned long long used = standin::Usage::get().bytes(handle->installed);
  *memory = {.total = total, .free = used < total ? total - used : 0, .used = used};
  return kSuccess;
}

// Since the last query: a GPU measures over a sixth of a second to a second.
Status nvmlDeviceGetUtilizationRates(Handle* handle, Utilization* rates) {
  const std::lock_guard lock(mutex);
  const auto now = std::chrono::steady_clock::now();
  const auto busy = standin::Usage::get().busy(handle->installed);
  const double share = std::chrono::duration<double>(busy - handle->busy) / (now - handle->asked);
  handle->asked = now;
  handle->busy = busy;
  *rates = {.gpu = static_cast<unsigned>(100 * (share < 0   ? 0
                                                : share > 1 ? 1
                                                            : share)),
            .memory = 0};
  return kSuccess;
}

Status nvmlDeviceGetMigMode(Handle* handle, unsigned* now, unsigned* next) {
  *now = *next = 0;
  return gpu_of(*handle).nvlink ? kSuccess : kNotSupported;
}

Status nvmlDeviceGetEccMode(Handle* handle, unsigned* now, unsigned* next) {
  *now = *next = 1;
  return gpu_of(*handle).nvlink ? kSuccess : kNotSupported;
}

Status nvmlDeviceGetRemappedRows(Handle* handle, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  *corrected = *uncorrected = *pending = *failed = 0;
  return gpu_of(*handle).nvlink ? kSuccess : kNotSupported;
}

Status nvmlDeviceGetClockInfo(Handle*, unsigned which, unsigned* mhz) {
  *mhz = which == kMemoryClock ? 3201 : 1980;
  return which == kSmClock || which == kMemoryClock ? kSuccess : kInvalidArgument;
}

Status nvmlDeviceGetMaxClockInfo(Handle* handle, unsigned which, unsigned* mhz) {
  return nvmlDeviceGetClockInfo(handle, which, mhz);
}

Status nvmlDeviceGetCurrentClocksThrottleReasons(Handle*, unsigned long long* reasons) {
  *reasons = 1;  // idle, which does not count
  return kSuccess;
}

Status nvmlDeviceGetPowerManagementLimit(Handle*, unsigned* milliwatts) {
  *milliwatts = 700'000;
  return kSuccess;
}

Status nvmlDeviceGetP2PStatus(Handle* one, Handle* two, unsigned which, unsigned* status) {
  const standin::Gpu& gpu = gpu_of(*one);
  const bool joined = gpu.nvlink && std::strcmp(gpu.word, gpu_of(*two).word) == 0;
  if (which != kNvlink) return kInvalidArgument;
  *status = joined ? 0 : 1;
  return kSuccess;
}

}  // extern "C"
