// Names the GPU of a failure in the error text, and finds it there again.
#pragma once

#include <string>
#include <string_view>

#include "base/gpu_error.h"
#include "base/host.h"
#include "run/session/session_device.h"

namespace trainyard {

/// `error` with the GPU that a rank trains on (null: the CPU): "..., on cuda:0 (NVIDIA H200,
/// 0000:17:00.0) of node1".
[[nodiscard]] Error with_gpu(const GpuError& error, const GpuFinding* gpu, std::string_view host);

/// The result of `work` on that device. A GpuError from it gets the GPU's name; other errors pass.
template <class Work>
auto naming_gpu(const DeviceChoice& choice, const Work& work) {
  try {
    return work();
  } catch (const GpuError& error) {
    throw with_gpu(error, choice.gpus ? &choice.gpus->gpus.front() : nullptr, host_name());
  }
}

/// The GPU at the end of such an error's text: "cuda:0 (...) of node1"; else "".
[[nodiscard]] std::string gpu_in(std::string_view text);

}  // namespace trainyard
