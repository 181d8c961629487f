// The bias that goes with a kernel.
#pragma once

#include "ops/op.h"

namespace trainyard {

/// Zeros, or with torch_default the kernel's own rule (uniform +-1 / sqrt(fan_in of the kernel)).
[[nodiscard]] ParameterSpec bias_for(const ParameterSpec& kernel, std::int64_t outputs);

}  // namespace trainyard
