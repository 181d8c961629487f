#include "ops/dropout.h"

#include <cmath>

#include "base/text.h"

namespace trainyard {

Signature DropoutOp::infer(std::span<const Shape> inputs) const {
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

Contract DropoutOp::contract() const {
  Contract contract;
  contract.draws = true;
  contract.eval_is_identity = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  return contract;
}

std::string DropoutOp::attributes() const {
  return "{rate: " + number_text(attributes_.rate) + "}";
}

std::uint64_t DropoutOp::threshold() const {
  return static_cast<std::uint64_t>(std::llround(attributes_.rate * 4294967296.0));
}

void declare(config::Fields& fields, DropoutAttributes& dropout) {
  fields.field("rate", dropout.rate, "share of values set to zero in training, below 1",
               {.minimum = 0});
  if (dropout.rate >= 1) {
    fields.error("rate", "'rate' must be below 1, found " + number_text(dropout.rate));
    dropout.rate = 0;
  }
}

config::Kind<Op> dropout_kind() {
  return {"dropout", "zeros at random in training, the rest scaled up",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            DropoutAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<DropoutOp>(attributes);
          }};
}

}  // namespace trainyard
