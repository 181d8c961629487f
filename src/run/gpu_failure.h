// Which GPU a failure came from, in words that are found again.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "device/gpu_survey.h"

namespace trainyard {

/// `error`, and where it is a GpuError, the GPU: "..., on cuda:0 (NVIDIA H200, 0000:17:00.0) of
/// node1". `gpu` is null for a run on the processor.
[[nodiscard]] Error with_gpu(const Error& error, const GpuFinding* gpu, std::string_view host);

/// The GPU that such an error's text ends with: "cuda:0 (...) of node1"; else "".
[[nodiscard]] std::string gpu_in(std::string_view text);

}  // namespace trainyard
