#include "ops/spatial_dropout.h"

#include "ops/expect.h"

namespace trainyard {

Signature SpatialDropoutOp::infer(std::span<const Shape> inputs) const {
  require_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.workspace_bytes =
      size_product({inputs[0].n(), inputs[0].c(), static_cast<std::int64_t>(sizeof(double))});
  return signature;
}

config::Kind<Op> spatial_dropout_kind() {
  return {"spatial_dropout", "sets random channels to zero in training and scales up the rest",
          &read_dropout<SpatialDropoutOp>};
}

}  // namespace trainyard
