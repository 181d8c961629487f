#include "ops/dropout.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "ops/rate.h"

namespace trainyard {
namespace {

/// Number of adjacent channels, if pixels are evenly spaced; else 0.
std::int64_t side_by_side(const Layout& layout) {
  const bool even = layout.stride[2] == layout.extent[3] * layout.stride[3];
  if (!even) return 0;
  if (layout.block > 1) return layout.block;
  return layout.stride[1] == 1 ? layout.extent[1] : 0;
}

}  // namespace

std::int64_t dropout_lanes(const Layout& from, const Layout& to) {
  const std::int64_t lanes = side_by_side(from);
  return side_by_side(to) == lanes ? lanes : 0;
}

bool in_logical_order(const Layout& layout) {
  Layout plain = plain_layout(shape_of(layout));
  plain.stride[0] = layout.stride[0];
  return plain == layout;
}

void require_counted_positions(const Shape& shape) {
  if (shape.elements() / shape.n() > std::int64_t{1} << 32) {
    throw ShapeError("takes at most 4294967296 values per sample, found " + shape.text());
  }
}

Signature DropoutOp::infer(std::span<const Shape> inputs) const {
  require_counted_positions(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

Contract DropOp::contract() const {
  Contract contract;
  contract.draws = true;
  contract.eval_is_identity = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  contract.keeps_steps = true;
  return contract;
}

std::string DropOp::attributes() const { return "{rate: " + number_text(attributes_.rate) + "}"; }

std::uint32_t drop_threshold(double rate) {
  const auto rounded = static_cast<std::uint64_t>(std::llround(rate * 4294967296.0));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded, 0xFFFFFFFFu));
}

void declare(config::Fields& fields, DropoutAttributes& dropout) {
  declare_rate(fields, "rate", dropout.rate, "fraction of values set to zero in training, below 1");
}

config::Kind<Op> dropout_kind() {
  return {"dropout", "sets random values to zero in training and scales up the rest",
          &read_dropout<DropoutOp>};
}

}  // namespace trainyard
