#include "ops/prelu.h"

#include "base/text.h"
#include "ops/expect.h"

namespace trainyard {

Signature PreluOp::infer(std::span<const Shape> inputs) const {
  require_features_or_images(inputs[0]);
  const std::int64_t channels = inputs[0].c();
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.parameters = {
      {.name = "alpha",
       .shape = {channels},
       .initializer = {.kind = Initializer::Kind::constant, .value = attributes_.init},
       .group = ParameterGroup::beta,  // without weight decay, as in the paper
       .l2 = 0,
       .fan_in = channels,
       .fan_out = channels}};
  signature.workspace_bytes = static_cast<std::int64_t>(channel_sum_bytes(inputs[0]));
  return signature;
}

Contract PreluOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  contract.synced_backward = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  return contract;
}

std::string PreluOp::attributes() const { return "{init: " + number_text(attributes_.init) + "}"; }

void declare(config::Fields& fields, PreluAttributes& prelu) {
  prelu.init = fields.profile() == config::Profile::torch ? 0.25 : 0;
  fields.field("init", prelu.init, "initial slope below 0 of every channel");
}

config::Kind<Op> prelu_kind() {
  return {"prelu", "x, or a learned slope per channel times x below 0",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            PreluAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<PreluOp>(attributes);
          }};
}

}  // namespace trainyard
