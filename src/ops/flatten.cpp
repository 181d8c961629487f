#include "ops/flatten.h"

#include "ops/expect.h"

namespace trainyard {

Signature FlattenOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  Signature signature;
  signature.outputs = {{input.n(), input.c() * input.h() * input.w()}};
  return signature;
}

Contract FlattenOp::contract() const {
  return {.alias_forward = true, .layouts = Contract::Layouts::plain};
}

config::Kind<Op> flatten_kind() {
  return {"flatten", "images to features, row-major",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<FlattenOp>(); }};
}

}  // namespace trainyard
