// Error handling of the CUDA launcher.
#pragma once

#include <cstdint>

namespace trainyard {

/// The blocks of a launch in CUDA's type. Throws Error{bug} beyond 2^31 - 1.
[[nodiscard]] unsigned grid_of(std::int64_t blocks);

/// If the last launch on this thread failed, throws as throw_cuda_error (base/gpu_error.h) does.
/// `form` is the launcher's member.
void check_launch(const char* form);

}  // namespace trainyard
