// What the GPU part offers the program. It is a shared object of its own, loaded when a GPU is
// asked for or found (backend/plugin.h); C++ objects cross the boundary, so both must be of one
// build.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/nccl_ranks.h"
#include "data/batch_launches.h"
#include "device/device.h"
#include "device/gpu_survey.h"
#include "exec/cudnn/cuda_executors.h"
#include "optim/update_launches.h"

namespace trainyard {

/// A library that the GPU part opens at run time.
struct LibraryFinding {
  std::string name;            // "cuDNN"
  std::string file;            // "libcudnn.so.9"
  std::filesystem::path path;  // where it was found; empty: nowhere
  std::string version;         // "9.19.0"; empty: not usable
  std::string problem;         // why not; empty: usable
  bool several_gpus = false;   // needed where several GPUs work together, not by one
  std::string without = {};    // what is left out without it; empty: it is needed
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// Driver and GPUs of this machine.
  [[nodiscard]] virtual GpuSurvey survey() const = 0;
  /// Opens cuDNN, cuBLASLt, NCCL and NVRTC out of `folders` (library_folders()), each out of the
  /// first that has it new enough. What is missing or too old is said in the findings; executors
  /// are given the paths.
  [[nodiscard]] virtual std::vector<LibraryFinding> open_libraries(
      std::span<const std::filesystem::path> folders) = 0;
  /// The GPU `ordinal`, as the survey counts, which is the calling thread's from then on. Throws
  /// Error{device}.
  [[nodiscard]] virtual std::unique_ptr<Device> make_device(int ordinal) const = 0;
  /// The executors of a device and queue that were made so. Throws Error{device}.
  [[nodiscard]] virtual std::unique_ptr<ExecutorFactory> make_executors(
      CudaExecutorSettings settings) const = 0;
  /// Everything between the gradients and the new weights, on a queue that outlives it.
  [[nodiscard]] virtual std::unique_ptr<UpdateLaunches> make_update_launches(
      const Queue& queue) const = 0;
  /// What makes batches of data sets that stay on the device, likewise.
  [[nodiscard]] virtual std::unique_ptr<BatchLaunches> make_batch_launches(
      const Queue& queue) const = 0;
  /// Joins other ranks' GPUs, by the NCCL of open_libraries(). Throws Error{device}.
  [[nodiscard]] virtual std::unique_ptr<Communicator> make_nccl_ranks(
      const NcclSettings& settings) const = 0;
};

/// What the entry of the plugin, `extern "C" const PluginEntry trainyard_plugin`, holds.
/// `interface` stays the first member for ever, so that a plugin of another build can be told
/// apart.
struct PluginEntry {
  const char* interface;  // of the build: TRAINYARD_INTERFACE (src/backend/CMakeLists.txt)
  Backend* (*make)();     // the caller owns it
};
inline constexpr const char* kPluginSymbol = "trainyard_plugin";

}  // namespace trainyard
