// The shape rule of ops that combine equal tensors.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace trainyard {

/// One output of the inputs' shape. Throws ShapeError unless there are at least two inputs, all of
/// the same shape.
[[nodiscard]] Signature infer_same_shapes(std::string_view op, std::span<const Shape> inputs);

}  // namespace trainyard
