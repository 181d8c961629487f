// Fully connected layer: y = W x + b.
#pragma once

#include <string>

#include "ops/op_with.h"
#include "tensor/layout.h"

namespace trainyard {

struct DenseAttributes {
  std::int64_t units = 0;
  bool bias = true;
  Initializer init;
  double l2 = 0;
  bool per_position = false;
};

/// [n, c] to [n, units]; an input [n, c, h, w] is read as [n, c * h * w] in row-major order. With
/// per_position a sequence [n, c, 1, t] to [n, units, 1, t], each position by itself.
/// Parameters: weight [units, features] and bias [units].
class DenseOp final : public OpWith<DenseAttributes> {
 public:
  using OpWith::OpWith;

  [[nodiscard]] std::string_view type() const override { return "dense"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] OpPtr without_bias() const override;
  [[nodiscard]] std::string attributes() const override;
};

/// A tensor that the layer multiplies or writes, as the matrix [rows, ...] that it is: a row is a
/// sample or, with per_position, a position of one.
[[nodiscard]] Layout matrix_layout(const DenseAttributes& dense, const Layout& layout);

void declare(config::Fields& fields, DenseAttributes& dense);
[[nodiscard]] std::span<const config::Kind<Op>> dense_kinds();

}  // namespace trainyard
