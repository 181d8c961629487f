#include "ops/pool_steps.h"

#include <fmt/format.h>

#include <array>

#include "ops/expect.h"

namespace trainyard {
namespace {}  // namespace

Signature PoolStepsOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_sequence(input);
  if (attributes_.mask) require_mask(input, inputs[1]);
  Signature signature;
  signature.outputs = {{input.n(), input.c()}};
  return signature;
}

std::unique_ptr<Op> PoolStepsOp::with_mask() const {
  return std::make_unique<PoolStepsOp>(PoolStepsAttributes{.kind = attributes_.kind, .mask = true});
}

std::string PoolStepsOp::attributes() const {
  return fmt::format("{{kind: {}{}}}", config::word_of(attributes_.kind),
                     attributes_.mask ? ", mask: true" : "");
}

config::Kind<Op> pool_steps_kind() {
  return {"pool_steps", "mean, largest or last value of each channel over the steps of a sequence",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            PoolStepsAttributes pool;
            fields.field("kind", pool.kind, "average, maximum or last");
            fields.field("mask", pool.mask,
                         "read a mask as a second input, and leave out the steps where it is 0");
            return std::make_unique<PoolStepsOp>(pool);
          }};
}

}  // namespace trainyard
