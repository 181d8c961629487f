// Runs a case on a device and checks it.
#pragma once

#include <vector>

#include "bound_case.h"
#include "devices.h"
#include "tolerance.h"

namespace trainyard::op_tests {

/// Evaluation, training and gradients, with fresh values.
[[nodiscard]] CaseResults run_all(BoundCase& bound, const OpCase& op_case,
                                  const CaseValues& values);
[[nodiscard]] CaseResults run_once(const OpCase& op_case, const ExecutorFactory& factory,
                                   const BindOptions& options, const CaseValues& values);

/// Fails the test if a result is outside its bound.
void compare_all(const CaseResults& found, const CaseResults& expected,
                 const Tolerances& tolerances, const OpCase& op_case);

/// Layouts that matter for this case: one if it has no maps or needs them plain, and those with
/// equal blocks if the op traits say `same`.
[[nodiscard]] std::vector<LayoutChoice> layouts_for(const OpCase& op_case,
                                                    const DeviceUnderTest& device);

[[nodiscard]] bool serves(const DeviceUnderTest& device, const OpCase& op_case);

/// Values that are exact in float, so that float devices and the double reference see the same
/// values; inputs, parameters and output gradients also in `storage`, where that is a 16-bit type.
/// Parameters: normal / sqrt(fan_in); gamma around 1. Running variances are positive.
[[nodiscard]] CaseValues draw_values(const OpCase& op_case, DType storage, std::uint64_t seed = 1);

/// Count normal values (mean 0, deviation 1).
[[nodiscard]] Values draw_normal(std::uint64_t seed, std::uint32_t tensor, std::size_t count);

}  // namespace trainyard::op_tests
