// The learned factor and offset per channel of normalisations.
#pragma once

#include <vector>

#include "ops/op.h"

namespace trainyard {

/// gamma [channels], ones, if `scale`; then beta [channels], zeros, if `center`.
[[nodiscard]] std::vector<ParameterSpec> affine_parameters(std::int64_t channels, bool scale,
                                                           bool center);

}  // namespace trainyard
