// Values of the tensors of a case: drawn from Philox, the same for every device and run.
#pragma once

#include "bound_case.h"

namespace trainyard::op_tests {

/// Values that are exact in float, so that float devices and the double reference see the same
/// values; inputs, parameters and output gradients also in `storage`, where that is a 16-bit type.
/// Parameters: normal / sqrt(fan_in); gamma around 1. Running variances are positive.
[[nodiscard]] CaseValues draw_values(const OpCase& op_case, DType storage, std::uint64_t seed = 1);

/// Count normal values (mean 0, deviation 1).
[[nodiscard]] Values draw_normal(std::uint64_t seed, std::uint32_t tensor, std::size_t count);

}  // namespace trainyard::op_tests
