#include "ops/maximum.h"

#include "ops/same_shapes.h"

namespace trainyard {

Signature MaximumOp::infer(std::span<const Shape> inputs) const {
  return infer_same_shapes("maximum", inputs);
}

Contract MaximumOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  contract.keeps_steps = true;
  return contract;
}

config::Kind<Op> maximum_kind() {
  return {"maximum", "largest value of branches of one shape",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<MaximumOp>(); }};
}

}  // namespace trainyard
