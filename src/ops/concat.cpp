#include "ops/concat.h"

#include <fmt/format.h>

#include "ops/expect.h"

namespace trainyard {
namespace {

bool fit(const Shape& a, const Shape& b) { return a.with(1, 1) == b.with(1, 1); }

}  // namespace

Signature ConcatOp::infer(std::span<const Shape> inputs) const {
  const Shape& first = inputs[0];
  require_features_or_images(first);
  std::int64_t channels = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank() != first.rank() || !fit(inputs[i], first)) {
      throw ShapeError(
          fmt::format("branches differ beyond channels: {} from branch 0, {} from "
                      "branch {}",
                      first.text(), inputs[i].text(), i));
    }
    channels += inputs[i].c();
  }
  Signature signature;
  signature.outputs = {first.with(1, channels)};
  return signature;
}

Contract ConcatOp::contract() const {
  return {.keeps_steps = true, .layouts = Contract::Layouts::same};
}

config::Kind<Op> concat_kind() {
  return {"concat", "concatenation of branches along channels",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<ConcatOp>(); }};
}

}  // namespace trainyard
