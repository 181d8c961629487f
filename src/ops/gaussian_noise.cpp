#include "ops/gaussian_noise.h"

#include "base/text.h"

namespace trainyard {

Signature GaussianNoiseOp::infer(std::span<const Shape> inputs) const {
  require_counted_positions(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

Contract GaussianNoiseOp::contract() const {
  Contract contract;
  contract.draws = true;
  contract.eval_is_identity = true;
  contract.in_place_forward = true;
  contract.alias_gradient = true;
  contract.keeps_steps = true;
  return contract;
}

std::string GaussianNoiseOp::attributes() const {
  return "{stddev: " + number_text(attributes_.stddev) + "}";
}

void declare(config::Fields& fields, GaussianNoiseAttributes& noise) {
  fields.field("stddev", noise.stddev, "standard deviation of the noise", {.minimum = 0});
}

config::Kind<Op> gaussian_noise_kind() {
  return {"gaussian_noise", "adds normal noise in training",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            GaussianNoiseAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<GaussianNoiseOp>(attributes);
          }};
}

}  // namespace trainyard
