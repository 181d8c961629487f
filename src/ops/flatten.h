// Images to features.
#pragma once

#include "ops/op.h"

namespace trainyard {

/// [n, c, h, w] to [n, c * h * w], row-major; features pass as they are. Values stay where they
/// lie, so the planner aliases input and output wherever both are plain.
class FlattenOp final : public Op {
 public:
  [[nodiscard]] std::string_view type() const override { return "flatten"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
};

[[nodiscard]] config::Kind<Op> flatten_kind();

}  // namespace trainyard
