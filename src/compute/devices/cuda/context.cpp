#include "compute/devices/cuda/context.h"

#include "device/cuda/cuda_device.h"

namespace trainyard::cudnn {

Context::Context(CudaExecutorSettings settings)
    : settings_(std::move(settings)),
      stream_(cuda::stream_of(*settings_.queue)),
      library_(settings_.cudnn),
      handle_(library_, stream_),
      properties_(make_device_properties(library_, settings_.ordinal)),
      book_(settings_, library_.version()) {
  if (settings_.side_queue != nullptr)
    side_.emplace(library_, cuda::stream_of(*settings_.side_queue));
}

Lane Context::lane(StepQueue queue) const {
  if (queue == StepQueue::main) return {.stream = stream_, .handle = handle_.get()};
  return {.stream = cuda::stream_of(*settings_.side_queue), .handle = side_->get()};
}

const MatmulLibrary& Context::matmul_library() {
  if (!matmul_library_) matmul_library_.emplace(settings_.cublaslt);
  return *matmul_library_;
}

EnginePolicy Context::rules(DType storage, bool tf32, std::size_t workspace_cap) const {
  return {.deterministic = settings_.deterministic,
          .f32 = storage == DType::f32,
          .tf32 = tf32,
          .workspace_cap = static_cast<std::int64_t>(workspace_cap)};
}

EngineSearch Context::search() {
  return {.library = library_,
          .device = properties_,
          .book = book_,
          .tune = settings_.tune,
          .tick = settings_.tick,
          .make_trial =
              [this](const TrialSubject& subject) { return make_engine_trial(*this, subject); },
          .check_gpu = [this] { settings_.queue->wait(); }};
}

}  // namespace trainyard::cudnn
