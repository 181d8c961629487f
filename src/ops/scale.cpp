#include "ops/scale.h"

#include "ops/affine.h"
#include "ops/expect.h"

namespace trainyard {

Signature ScaleOp::infer(std::span<const Shape> inputs) const {
  require_features_or_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.parameters = affine_parameters(inputs[0].c(), true, attributes_.center);
  signature.workspace_bytes = static_cast<std::int64_t>(channel_sum_bytes(inputs[0]));
  return signature;
}

Contract ScaleOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  contract.synced_backward = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  return contract;
}

std::string ScaleOp::attributes() const {
  return attributes_.center ? "{center: true}" : "{center: false}";
}

void declare(config::Fields& fields, ScaleAttributes& scale) {
  fields.field("center", scale.center, "learn an offset per channel (beta)");
}

config::Kind<Op> scale_kind() {
  return {"scale", "a learned factor and offset per channel",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            ScaleAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<ScaleOp>(attributes);
          }};
}

}  // namespace trainyard
