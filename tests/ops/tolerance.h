// Allowed deviation of a device's results from the reference in double.
#pragma once

#include <string>

#include "bound_case.h"

namespace trainyard::op_tests {

/// Absolute bounds of one case, one per result tensor.
struct Tolerances {
  std::vector<double> outputs, statistics, evaluated, input_gradients, parameter_gradients;
};

/// Rounding errors of a sum of n terms stay below 6 sqrt(n) eps * sum of |terms| except in one case
/// in 10^8 (Higham and Mary 2019, theorem 2.4, lambda = 6). n follows from the op's attributes. The
/// sum of |terms| of an op that is linear in its inputs comes from the reference itself, run on
/// absolute values; that of the others is bounded by the size of the results times the case's
/// conditioning. Results that are 0 in exact arithmetic still carry the inputs' rounding, hence a
/// size of at least 1, or that of the inputs if they are near zero.
///
/// Where activations are stored in 16 bits, the arithmetic is that of float on inputs that are
/// exact in both, and each result that is stored adds half a unit in its last place: once a step
/// over the inputs, or, in input gradients of ops that read their stored outputs, as an error of
/// the terms. `extra` counts a device's additional roundings to that type, in parameters' gradients
/// too.
[[nodiscard]] Tolerances tolerances(const OpCase& op_case, const CaseValues& values,
                                    const CaseResults& reference, DType type, double extra = 0);

}  // namespace trainyard::op_tests
