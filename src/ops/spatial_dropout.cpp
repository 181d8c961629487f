#include "ops/spatial_dropout.h"

#include "base/text.h"
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

Contract SpatialDropoutOp::contract() const {
  Contract contract;
  contract.draws = true;
  contract.eval_is_identity = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  return contract;
}

std::string SpatialDropoutOp::attributes() const {
  return "{rate: " + number_text(attributes_.rate) + "}";
}

config::Kind<Op> spatial_dropout_kind() {
  return {"spatial_dropout", "sets random channels to zero in training and scales up the rest",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            DropoutAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<SpatialDropoutOp>(attributes);
          }};
}

}  // namespace trainyard
