// What the CUDA launcher does about a launch that fails.
#pragma once

#include <cstdint>

namespace trainyard {

/// The blocks of a launch as CUDA counts them. Throws Error{bug} beyond 2^31 - 1.
[[nodiscard]] unsigned grid_of(std::int64_t blocks);

/// Throws what throw_cuda_error (base/gpu_error.h) does if the launch just made on this thread
/// failed. `form` is the launcher's member.
void check_launch(const char* form);

}  // namespace trainyard
