// What a step of a plan reads and writes: the one list that lifetimes, conflicts between steps, the
// plan's text and the binding of addresses follow.
#pragma once

#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace trainyard {

/// What a tensor is to a step: a list of PlanStep.
enum class TensorRole {
  input,
  output,
  output_gradient,
  input_gradient,
  parameter_gradient,
  packed_gradient,
  reserve,
  workspace
};

struct TensorUse {
  TensorRole role = TensorRole::input;
  TensorId id = kNoTensor;
  bool reads = false, writes = false;
};

/// In the order of the step's lists, with kNoTensor where these have it. (The entries of the flat
/// blocks that a step reads and writes are no tensors of the plan.)
[[nodiscard]] std::vector<TensorUse> tensors_of(const PlanStep& step);

/// True if one of the steps writes bytes of a tensor that the other reads or writes. Slices of a
/// tensor count as the whole.
[[nodiscard]] bool conflict(const Plan& plan, const PlanStep& one, const PlanStep& other);

}  // namespace trainyard
