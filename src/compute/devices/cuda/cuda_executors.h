// The executors of NVIDIA GPUs: cuDNN for convolutions, cuBLASLt for dense layers, our functors on
// the CUDA launcher for the rest.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/filesystem.h"
#include "compute/conv/choice_cache.h"
#include "compute/executor.h"
#include "device/device.h"

namespace trainyard {

/// Settings of a GPU's executors. Device and queue must outlive factory and executors, and the
/// device must be current for the calling thread whenever either is used.
struct CudaExecutorSettings {
  Device* device = nullptr;
  Queue* queue = nullptr;       // executors run on it,
  Queue* side_queue = nullptr;  // steps of StepQueue::side on this one; null: there are none
  int ordinal = 0;              // ordinal of the device, as CUDA counts
  std::string gpu;              // "NVIDIA H200"
  fs::path cudnn = "libcudnn.so.9";
  fs::path cublaslt = "libcublasLt.so.13";
  bool deterministic = true;                           // only engines with bit-identical results
  std::size_t workspace_cap = std::size_t{256} << 20;  // bytes per step
  bool tune = true;  // time the engines that cuDNN proposes; else take the first that runs
  /// Where timed choices are stored, for all runs on this machine; empty: nowhere.
  fs::path engine_folder;
  using EngineSource = trainyard::EngineSource;
  EngineSource engines_of = EngineSource::earlier_run;
  /// Earlier choices (ExecutorFactory::choices()), which take precedence over all others; or empty.
  std::string engines;
  /// Called before each engine that is made or timed, which takes up to a second.
  std::function<void()> tick = [] {};
  std::function<void(const std::string&)> warn;
};

/// Opens cuDNN. Throws Error{device} if it is missing or too old; cuBLASLt, which is large, is
/// opened with the first dense layer.
[[nodiscard]] std::unique_ptr<ExecutorFactory> make_cuda_executors(CudaExecutorSettings settings);

}  // namespace trainyard
