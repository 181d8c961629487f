#include "ops/multiply.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/same_shapes.h"

namespace trainyard {
namespace {

/// True for [n, c, 1, 1] and [n, c] next to another [n, c, h, w].
bool scales(const Shape& factors, const Shape& map) {
  const bool one_pixel = factors.h() == 1 && factors.w() == 1;
  return map.rank() == 4 && factors != map && one_pixel && factors.n() == map.n() &&
         factors.c() == map.c();
}

}  // namespace

Signature MultiplyOp::infer(std::span<const Shape> inputs) const {
  for (const Shape& map : inputs) {
    if (std::ranges::none_of(inputs, [&](const Shape& shape) { return scales(shape, map); })) {
      continue;
    }
    if (inputs.size() > 2) {
      throw ShapeError(
          fmt::format("a map and the factors of its channels, [c, 1, 1] or [c], are multiplied two "
                      "at a time, found {} branches",
                      inputs.size()));
    }
    Signature signature;
    signature.outputs = {map};
    return signature;
  }
  return infer_same_shapes("multiply", inputs);
}

Contract MultiplyOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  contract.keeps_steps = true;
  return contract;
}

config::Kind<Op> multiply_kind() {
  return {"multiply",
          "product of branches of one shape, or of a map and factors [c, 1, 1] or [c] of its "
          "channels",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<MultiplyOp>(); }};
}

}  // namespace trainyard
