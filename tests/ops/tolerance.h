// How far a device's results may lie from the reference in double.
#pragma once

#include <string>

#include "bound_case.h"

namespace trainyard::op_tests {

/// Bounds of one case, in absolute terms, a tensor of the results each.
struct Tolerances {
  std::vector<double> outputs, statistics, evaluated, input_gradients, parameter_gradients;
};

/// Rounding errors of a sum of n terms stay below 6 sqrt(n) eps * sum of |terms| but for one case
/// in 10^8 (Higham and Mary 2019, theorem 2.4, lambda = 6). n follows from the op's attributes. The
/// sum of |terms| of an op that is linear in its inputs comes from the reference itself, run on
/// absolute values; that of the others is bounded by the size of the results times the case's
/// conditioning. Results that are 0 in exact arithmetic still carry the inputs' rounding, hence a
/// size of at least 1, or of the inputs where they are near zero.
///
/// Where activations are stored in 16 bits, the arithmetic is that of float on inputs that are
/// exact in both, and each result that is stored adds half a unit in its last place: once a step
/// over the inputs, or, in input gradients of ops that read their stored outputs, as an error of
/// the terms. `extra` counts the roundings to that type which a device makes beside those, in
/// parameters' gradients too.
[[nodiscard]] Tolerances tolerances(const OpCase& op_case, const CaseValues& values,
                                    const CaseResults& reference, DType type, double extra = 0);

}  // namespace trainyard::op_tests
