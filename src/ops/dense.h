// Fully connected layer: y = W x + b.
#pragma once

#include <string>

#include "ops/op.h"

namespace trainyard {

struct DenseAttributes {
  std::int64_t units = 0;
  bool bias = true;
  Initializer init;
  double l2 = 0;
};

/// [n, c] to [n, units]; an input [n, c, h, w] is read as [n, c * h * w] in row-major order.
/// Parameters: weight [units, features] and bias [units].
class DenseOp final : public Op {
 public:
  explicit DenseOp(DenseAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const DenseAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return "dense"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

 private:
  DenseAttributes attributes_;
};

void declare(config::Fields& fields, DenseAttributes& dense);
[[nodiscard]] config::Kind<Op> dense_kind();

}  // namespace trainyard
