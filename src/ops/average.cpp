#include "ops/average.h"

#include "ops/same_shapes.h"

namespace trainyard {

Signature AverageOp::infer(std::span<const Shape> inputs) const {
  return infer_same_shapes("average", inputs);
}

Contract AverageOp::contract() const {
  Contract contract;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  contract.shared_gradient = true;
  contract.keeps_steps = true;
  return contract;
}

config::Kind<Op> average_kind() {
  return {"average", "mean of branches of one shape",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<AverageOp>(); }};
}

}  // namespace trainyard
