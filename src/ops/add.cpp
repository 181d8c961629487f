#include "ops/add.h"

#include "ops/same_shapes.h"

namespace trainyard {

Signature AddOp::infer(std::span<const Shape> inputs) const {
  return infer_same_shapes("add", inputs);
}

Contract AddOp::contract() const {
  Contract contract;
  contract.in_place_forward = true;
  contract.in_place_backward = true;
  contract.alias_gradient = !attributes_.relu;
  contract.shared_gradient = true;
  contract.can.set(Can::write_slices, attributes_.relu);
  contract.backward_reads_outputs = attributes_.relu;
  contract.keeps_steps = true;
  return contract;
}

std::unique_ptr<Op> AddOp::with_relu() const {
  if (attributes_.relu) return nullptr;
  return std::make_unique<AddOp>(AddAttributes{.relu = true});
}

std::string AddOp::attributes() const { return attributes_.relu ? "{relu: true}" : "{}"; }

config::Kind<Op> add_kind() {
  return {"add", "sum of branches of one shape", [](config::Fields&) -> std::unique_ptr<Op> {
            return std::make_unique<AddOp>(AddAttributes{});
          }};
}

}  // namespace trainyard
