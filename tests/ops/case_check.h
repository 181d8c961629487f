// Runs a case on a device and checks it.
#pragma once

#include <vector>

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

}  // namespace trainyard::op_tests
