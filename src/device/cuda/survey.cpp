#include <cuda_runtime_api.h>

#include <array>

#include "base/host.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"
#include "device/cuda/nvml.h"

namespace trainyard::cuda {
namespace {

std::vector<int> peers_of(int ordinal, int count) {
  std::vector<int> peers;
  for (int other = 0; other < count; ++other) {
    if (other == ordinal) continue;
    int reads = 0;
    TY_CUDA(cudaDeviceCanAccessPeer(&reads, ordinal, other));
    if (reads != 0) peers.push_back(other);
  }
  return peers;
}

ComputeMode compute_mode_of(int ordinal) {
  int mode = 0;
  TY_CUDA(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, ordinal));
  if (mode == cudaComputeModeProhibited) return ComputeMode::prohibited;
  // Exclusive to a thread (no longer made) or to a process.
  return mode == cudaComputeModeDefault ? ComputeMode::any : ComputeMode::exclusive;
}

/// Creates no context, which would take memory on every GPU: free memory comes from NVML.
GpuFinding finding_of(int ordinal, int count, const Nvml& nvml) {
  cudaDeviceProp properties{};
  TY_CUDA(cudaGetDeviceProperties(&properties, ordinal));
  GpuFinding gpu{.ordinal = ordinal,
                 .name = properties.name,
                 .major = properties.major,
                 .minor = properties.minor,
                 .total_bytes = properties.totalGlobalMem,
                 .free_bytes = {},
                 .busy_percent = {},
                 .bus = {},
                 .compute_mode = compute_mode_of(ordinal),
                 .peers = peers_of(ordinal, count)};
  gpu.bus = bus_of(ordinal);
  gpu.numa_node = numa_node_of(gpu.bus);
  gpu.condition = nvml.condition_of(gpu.bus);
  for (const int peer : gpu.peers) {
    if (nvml.joined_by_nvlink(gpu.bus, bus_of(peer))) gpu.nvlinks.push_back(peer);
  }
  if (const auto load = nvml.load_of(gpu.bus)) {
    gpu.total_bytes = load->total_bytes;
    gpu.free_bytes = load->free_bytes;
    gpu.busy_percent = load->busy_percent;
  }
  return gpu;
}

}  // namespace

std::string bus_of(int ordinal) {
  std::array<char, 32> bus{};
  TY_CUDA(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), ordinal));
  return bus.data();
}

GpuSurvey survey() {
  GpuSurvey survey;
  TY_CUDA(cudaRuntimeGetVersion(&survey.runtime_cuda));
  TY_CUDA(cudaDriverGetVersion(&survey.driver_cuda));
  const Nvml nvml;
  survey.driver = nvml.driver_version();
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    ignore(cudaGetLastError());
    survey.problem = cudaGetErrorString(status);
    // The status of GPUs joined by NVSwitch until the fabric is set up.
    if (status == cudaErrorSystemNotReady) survey.problem += " (is nvidia-fabricmanager running?)";
    return survey;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    survey.gpus.push_back(finding_of(ordinal, count, nvml));
  }
  return survey;
}

}  // namespace trainyard::cuda
