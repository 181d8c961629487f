// Dropout with inverted scaling (Srivastava et al. 2014, as in Keras and Caffe), of elements, whole
// channels and whole samples, and additive normal noise: in training alone.
#pragma once

#include <string>

#include "ops/op_with.h"

namespace trainyard {

/// A fraction in [0, 1).
void declare_rate(config::Fields& fields, std::string_view key, double& rate,
                  std::string_view help);
/// Draws count the positions of a sample in 32 bits: throws ShapeError if it has more.
void require_counted_positions(const Shape& shape);

struct DropoutAttributes {
  double rate = 0.5;  // fraction of zeros, in [0, 1)
};

/// What drops at a rate: a shape to the same shape. forward_eval copies, backward draws the mask
/// again.
class DropOp : public OpWith<DropoutAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] Contract contract() const final;
  [[nodiscard]] std::string attributes() const final;
};

/// Single values of any shape.
class DropoutOp final : public DropOp {
 public:
  using DropOp::DropOp;
  [[nodiscard]] std::string_view type() const override { return "dropout"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
};

/// Whole channels of [n, c, h, w].
class SpatialDropoutOp final : public DropOp {
 public:
  using DropOp::DropOp;
  [[nodiscard]] std::string_view type() const override { return "spatial_dropout"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
};

/// Whole samples, any shape: of a residual branch, stochastic depth (Huang et al. 2016).
class DropPathOp final : public DropOp {
 public:
  using DropOp::DropOp;
  [[nodiscard]] std::string_view type() const override { return "drop_path"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
};

struct GaussianNoiseAttributes {
  double stddev = 0.1;  // standard deviation
};

/// Any shape to the same shape. forward_eval copies.
class GaussianNoiseOp final : public OpWith<GaussianNoiseAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] std::string_view type() const override { return "gaussian_noise"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;
};

/// The ops above, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Op>> dropout_kinds();

}  // namespace trainyard
