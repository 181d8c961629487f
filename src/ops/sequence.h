// Ops of sequences: a learned vector for each token, and one value of each channel from the steps
// that a mask keeps.
#pragma once

#include <cstdint>
#include <string>

#include "ops/op_with.h"

namespace trainyard {

struct EmbeddingAttributes {
  std::int64_t units = 0;
  std::int64_t vocabulary = 1;
  Initializer init;
  double l2 = 0;
  bool mask_zero = false;  // token 0 is padding, which later layers leave out
};

/// Tokens i32 [n, t] to the sequence [n, units, 1, t]. Parameter: weight [vocabulary, units]. Its
/// gradient is dense: tokens that do not occur have 0, so momentum and Adam move them too.
class EmbeddingOp final : public OpWith<EmbeddingAttributes> {
 public:
  using OpWith::OpWith;
  /// What sorting the positions of tokens by token takes, in the backward pass.
  [[nodiscard]] std::size_t sort_bytes(const Shape& tokens) const;
  [[nodiscard]] std::string_view type() const override { return "embedding"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .synced_backward = true,
            .vocabulary = values().vocabulary,
            .masks_zero = values().mask_zero,
            .keeps_steps = true,
            .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;
};

[[nodiscard]] std::span<const config::Kind<Op>> embedding_kinds();

enum class StepPooling { average, maximum, last };
[[nodiscard]] constexpr config::Words<StepPooling> words(StepPooling) {
  return {"average", "maximum", "last"};
}

struct PoolStepsAttributes {
  StepPooling kind = StepPooling::average;
  bool mask = false;  // a second input: steps where it is 0 do not count
};

/// A sequence [n, c, 1, t] to features [n, c]: the mean or the largest value of each channel over
/// the steps, or the last step. With a mask i32 [n, t] over the steps where it is not 0; 0 where
/// there are none. YAML name: pool_steps.
class PoolStepsOp final : public OpWith<PoolStepsAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] std::string_view type() const override { return "pool_steps"; }
  [[nodiscard]] int arity() const override { return values().mask ? 2 : 1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {
        .backward_reads_inputs = true, .masked = values().mask, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] OpPtr with_mask() const override;
  [[nodiscard]] std::string attributes() const override;
};

[[nodiscard]] std::span<const config::Kind<Op>> pool_step_kinds();

}  // namespace trainyard
