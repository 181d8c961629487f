// Branches joined: sum, concatenation, product, mean, maximum and minimum.
#pragma once

#include <string>

#include "ops/op_with.h"

namespace trainyard {

struct AddAttributes {
  bool relu = false;  // set by the planner's fusion, never by YAML: y = max(sum, 0)
};

/// An op of one or more branches. Unless it has a rule of its own, these are two or more of one
/// shape, which is that of the output.
class JoinOp : public Op {
 public:
  [[nodiscard]] int arity() const final { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
};

/// Two or more inputs of one shape to that shape, summed in the order of the inputs. All inputs
/// share one gradient, that of the output (with relu: where the output is above 0), written once.
class AddOp final : public OpWith<AddAttributes, JoinOp> {
 public:
  explicit AddOp(AddAttributes attributes = {}) : OpWith(attributes) {}
  [[nodiscard]] std::string_view type() const override { return "add"; }
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] OpPtr with_relu() const override;
  [[nodiscard]] std::string attributes() const override;
};

/// [n, c_i, h, w] to [n, sum of c_i, h, w], or [n, c_i] to [n, sum of c_i], in the order of the
/// inputs. All other extents must be equal. Backward copies the slices of the gradient.
class ConcatOp final : public JoinOp {
 public:
  [[nodiscard]] std::string_view type() const override { return "concat"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

/// Two or more inputs of one shape to that shape, multiplied in the order of the inputs; or a map
/// [n, c, h, w] and, in either order, its factors [n, c, 1, 1] or [n, c] to the map's shape. The
/// gradient of an input is dy times the other inputs, in their order; that of factors is the sum
/// over the map, in the order of a Team.
class MultiplyOp final : public JoinOp {
 public:
  [[nodiscard]] std::string_view type() const override { return "multiply"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

/// Two or more inputs of one shape to that shape: their sum in order, times 1 / count. Every
/// input's gradient is dy / count, written once for all.
class AverageOp final : public JoinOp {
 public:
  [[nodiscard]] std::string_view type() const override { return "average"; }
  [[nodiscard]] Contract contract() const override;
};

/// Two or more inputs of one shape to that shape. The gradient goes to the largest input, to the
/// first of equal ones.
class MaximumOp final : public JoinOp {
 public:
  [[nodiscard]] std::string_view type() const override { return "maximum"; }
  [[nodiscard]] Contract contract() const override;
};

/// The same with the smallest.
class MinimumOp final : public JoinOp {
 public:
  [[nodiscard]] std::string_view type() const override { return "minimum"; }
  [[nodiscard]] Contract contract() const override;
};

/// The ops above, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Op>> join_kinds();

}  // namespace trainyard
