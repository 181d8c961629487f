#include "ops/softmax.h"

namespace trainyard {

Signature SoftmaxOp::infer(std::span<const Shape> inputs) const {
  Signature signature;
  signature.outputs = {inputs[0]};
  return signature;
}

Contract SoftmaxOp::contract() const {
  Contract contract;
  contract.backward_reads_outputs = true;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  contract.keeps_steps = true;
  return contract;
}

config::Kind<Op> softmax_kind() {
  return {"softmax", "e^x divided by its sum over channels",
          [](config::Fields&) -> std::unique_ptr<Op> { return std::make_unique<SoftmaxOp>(); }};
}

}  // namespace trainyard
