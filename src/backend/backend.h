// The interface of the GPU part. It is a separate shared object, loaded when a GPU is requested or
// found (backend/plugin.h); C++ objects cross the boundary, so both must come from the same build.
//
// The folder backend holds the program side of the GPU part (finding, loading, choosing GPUs,
// doctor), and in cuda/ the entry of the part itself.
//
// The part's CUDA runtime is static. cuDNN, cuBLASLt and NCCL are opened at run time from the
// folders of plugin.h and called through tables of functions, each with a least version
// (base/shared_library.h). A package may hold parts for several CUDA versions
// (TRAINYARD_CUDA_PARTS); the driver's version decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "compute/devices/cuda/cuda_executors.h"
#include "data/feed/batch_launches.h"
#include "device/device.h"
#include "device/gpu_survey.h"
#include "optim/update_launches.h"
#include "ranks/comm/nccl_ranks.h"

namespace trainyard {

/// A library that the GPU part opens at run time.
struct LibraryFinding {
  std::string name;           // "cuDNN"
  std::string file;           // "libcudnn.so.9"
  fs::path path;              // where it was found; empty: nowhere
  std::string version;        // "9.19.0"; empty: not usable
  std::string problem;        // why not; empty: usable
  bool several_gpus = false;  // needed only when several GPUs work together
  std::string without = {};   // what is left out without it; empty: it is required
};

/// When a launch of ours ran, in nanoseconds of the GPU's timer: from the begin of its first block
/// to the end of its last.
struct LaunchSpan {
  std::string functor;
  std::size_t queue = 0;  // numbered in the order of first use
  std::uint64_t begin = 0, end = 0;
};
/// Recorded work whose launches note when they run.
class TimedRecording {
 public:
  virtual ~TimedRecording() = default;
  /// Replays it and waits. Spans are of our launches alone, in the order of recording.
  [[nodiscard]] virtual std::vector<LaunchSpan> replay() = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Driver and GPUs of this machine.
  [[nodiscard]] virtual GpuSurvey survey() const = 0;
  /// Opens cuDNN, cuBLASLt, NCCL and NVRTC from `folders` (library_folders()), each from the first
  /// folder whose copy is new enough. The findings report what is missing or too old; executors are
  /// given the paths.
  [[nodiscard]] virtual std::vector<LibraryFinding> open_libraries(
      std::span<const fs::path> folders) = 0;
  /// The GPU `ordinal`, as numbered by the survey; it becomes the calling thread's current device.
  /// With `overlap`, kernels of its recordings may begin while those before them end. Throws
  /// Error{device}.
  [[nodiscard]] virtual std::unique_ptr<Device> make_device(int ordinal, bool overlap) const = 0;
  /// The executors for a device and queue of this backend. Throws Error{device}.
  [[nodiscard]] virtual std::unique_ptr<ExecutorFactory> make_executors(
      CudaExecutorSettings settings) const = 0;
  /// Everything between the gradients and the new weights, on a queue that must outlive it.
  [[nodiscard]] virtual std::unique_ptr<UpdateLaunches> make_update_launches(
      const Queue& queue) const = 0;
  /// Makes batches of data sets that stay on the device, on a queue that must outlive it.
  [[nodiscard]] virtual std::unique_ptr<BatchLaunches> make_batch_launches(
      const Queue& queue) const = 0;
  /// As Device::record(). Null unless the GPU part was built with TRAINYARD_NODE_TIMES.
  [[nodiscard]] virtual std::unique_ptr<TimedRecording> record_timed(
      Device& /*device*/, Queue& /*queue*/, const std::function<void()>& /*work*/) const {
    return nullptr;
  }
  /// Joins other ranks' GPUs, through the NCCL of open_libraries(). Throws Error{device}.
  [[nodiscard]] virtual std::unique_ptr<Communicator> make_nccl_ranks(
      const NcclSettings& settings) const = 0;
};

/// The content of the plugin's entry, `extern "C" const PluginEntry trainyard_plugin`. `interface`
/// must always stay the first member, so that a plugin of another build can be recognised.
struct PluginEntry {
  const char* interface;  // the build's TRAINYARD_INTERFACE (src/backend/CMakeLists.txt)
  Backend* (*make)();     // the caller owns it
};
inline constexpr const char* kPluginSymbol = "trainyard_plugin";

}  // namespace trainyard
