// Inputs side by side along channels.
#pragma once

#include "ops/op.h"

namespace trainyard {

/// [n, c_i, h, w] to [n, sum of c_i, h, w], or [n, c_i] to [n, sum of c_i], in the order of the
/// inputs. All other extents must be equal. Backward copies the slices of the gradient.
class ConcatOp final : public Op {
 public:
  [[nodiscard]] std::string_view type() const override { return "concat"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

[[nodiscard]] config::Kind<Op> concat_kind();

}  // namespace trainyard
