// The planner's own op: converts the same values to another layout.
#pragma once

#include "ops/op.h"

namespace trainyard {

class ReorderOp final : public Op {
 public:
  /// `alias`: both layouts are the same bytes, so no step is needed.
  explicit ReorderOp(bool alias) : alias_(alias) {}
  [[nodiscard]] std::string_view type() const override { return "reorder"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    return {.outputs = {inputs[0]}};
  }
  [[nodiscard]] Contract contract() const override {
    return {.alias_forward = alias_, .layouts = Contract::Layouts::any};
  }

 private:
  bool alias_;
};

}  // namespace trainyard
