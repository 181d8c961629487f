#include "ops/multiply.h"

#include "ops/same_shapes.h"

namespace trainyard {

Signature MultiplyOp::infer(std::span<const Shape> inputs) const {
  return infer_same_shapes("multiply", inputs);
}

Contract MultiplyOp::contract() const {
  Contract contract;
  contract.backward_reads_inputs = true;
  return contract;
}

config::Kind<Op> multiply_kind() {
  return {"multiply", "product of branches of one shape",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<MultiplyOp>(); }};
}

}  // namespace trainyard
