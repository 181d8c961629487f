#include "ops/dropout.h"

#include <string>

#include "base/text.h"
#include "ops/expect.h"

namespace trainyard {

void declare_rate(config::Fields& fields, std::string_view key, double& rate,
                  std::string_view help) {
  fields.field(key, rate, help, {.minimum = 0});
  if (rate < 1) return;
  fields.error(key, "'" + std::string(key) + "' must be below 1, found " + number_text(rate));
  rate = 0;
}

void require_counted_positions(const Shape& shape) {
  if (shape.elements() / shape.n() > std::int64_t{1} << 32) {
    throw ShapeError("takes at most 4294967296 values per sample, found " + shape.text());
  }
}

Signature DropoutOp::infer(std::span<const Shape> inputs) const {
  require_counted_positions(inputs[0]);
  return {.outputs = {inputs[0]}};
}

Contract DropOp::contract() const {
  return {.in_place_forward = true,
          .in_place_backward = true,
          .draws = true,
          .eval_is_identity = true,
          .keeps_steps = true};
}

std::string DropOp::attributes() const { return "{rate: " + number_text(values().rate) + "}"; }

void declare(config::Fields& fields, DropoutAttributes& dropout) {
  declare_rate(fields, "rate", dropout.rate, "fraction of values set to zero in training, below 1");
}

Signature SpatialDropoutOp::infer(std::span<const Shape> inputs) const {
  require_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.workspace_bytes =
      size_product({inputs[0].n(), inputs[0].c(), static_cast<std::int64_t>(sizeof(double))});
  return signature;
}

Signature DropPathOp::infer(std::span<const Shape> inputs) const {
  Signature signature{.outputs = {inputs[0]}};
  signature.workspace_bytes =
      size_product({inputs[0].n(), static_cast<std::int64_t>(sizeof(double))});
  return signature;
}

Signature GaussianNoiseOp::infer(std::span<const Shape> inputs) const {
  require_counted_positions(inputs[0]);
  return {.outputs = {inputs[0]}};
}

Contract GaussianNoiseOp::contract() const {
  return {.in_place_forward = true,
          .alias_gradient = true,
          .draws = true,
          .eval_is_identity = true,
          .keeps_steps = true};
}

std::string GaussianNoiseOp::attributes() const {
  return "{stddev: " + number_text(values().stddev) + "}";
}

void declare(config::Fields& fields, GaussianNoiseAttributes& noise) {
  fields.field("stddev", noise.stddev, "standard deviation of the noise", {.minimum = 0});
}

std::span<const config::Kind<Op>> dropout_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"dropout", "sets random values to zero in training and scales up the rest",
       &read_op<DropoutOp, DropoutAttributes>},
      {"spatial_dropout", "sets random channels to zero in training and scales up the rest",
       &read_op<SpatialDropoutOp, DropoutAttributes>},
      {"drop_path", "sets random samples to zero in training and scales up the rest",
       &read_op<DropPathOp, DropoutAttributes>},
      {"gaussian_noise", "adds normal noise in training",
       &read_op<GaussianNoiseOp, GaussianNoiseAttributes>},
  };
  return kinds;
}

}  // namespace trainyard
