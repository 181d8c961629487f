// The GPUs that the stand-in emulates, as data.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stream.h"

namespace standin {

struct Gpu {
  const char* word;  // in STANDIN_GPUS
  const char* name;  // as reported by the driver
  int major, minor;  // compute capability
  std::size_t bytes;
  int processors;
  bool peers;   // reads memory of other GPUs directly
  bool nvlink;  // does so through NVLink
};

/// All GPUs of the machine, in the order of the PCI bus: STANDIN_GPUS, which is a number of "h200"
/// or a list of kinds ("h200,rtx4090"); none if it is not set. STANDIN_MEMORY_MIB is the memory of
/// each, instead of its kind's.
[[nodiscard]] const std::vector<Gpu>& installed_gpus();
/// Indices of the GPUs visible to this process, in its order: CUDA_VISIBLE_DEVICES, or all.
[[nodiscard]] const std::vector<int>& visible_gpus();
/// The PCI bus id of an installed GPU: "0000:01:00.0".
[[nodiscard]] std::string bus_of(int installed);
/// The newest CUDA that the driver supports: STANDIN_DRIVER (13000), or 13.0.
[[nodiscard]] int driver_version();
/// Mode of all GPUs, as a cudaComputeMode: STANDIN_COMPUTE_MODE, or 0 (the default).
[[nodiscard]] int compute_mode();

struct Kernel {
  const char* form;  // form of the launcher: "each"
  cudaStream_t stream;
  std::int64_t blocks, threads;
  const char* functor = "";  // its name, which lives forever
  bool overlaps = false;     // launched with the attribute of programmatic launches
};

/// Enqueues the kernel's work: only on a stream of the thread's device, and within the limits of a
/// launch. A refusal is the thread's last error.
cudaError_t launch_kernel(const Kernel& kernel, Work work);

}  // namespace standin
