// Which GPU a failure came from, in words that are found again.
#pragma once

#include <string>
#include <string_view>

#include "base/gpu_error.h"
#include "base/host_name.h"
#include "run/session/session.h"

namespace trainyard {

/// `error` with the GPU that a rank trains on, null for the processor: "..., on cuda:0 (NVIDIA
/// H200, 0000:17:00.0) of node1".
[[nodiscard]] Error with_gpu(const GpuError& error, const GpuFinding* gpu, std::string_view host);

/// What `work` on that device gives. A GpuError of it names the GPU; other errors pass.
template <class Work>
auto naming_gpu(const DeviceChoice& choice, const Work& work) {
  try {
    return work();
  } catch (const GpuError& error) {
    throw with_gpu(error, choice.gpus ? &choice.gpus->gpus.front() : nullptr, host_name());
  }
}

/// The GPU that such an error's text ends with: "cuda:0 (...) of node1"; else "".
[[nodiscard]] std::string gpu_in(std::string_view text);

}  // namespace trainyard
