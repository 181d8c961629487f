// A token as a row of zeros with a 1 at its place.
#pragma once

#include <cstdint>
#include <string>

#include "base/half.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// y[position][c] = 1 if c is the token, else 0; all 0 for a token that is none. A row is a
/// position.
template <class T>
struct OneHotRows {
  const std::int32_t* tokens;  // [positions]
  T* y;                        // [positions, vocabulary]
  std::int64_t vocabulary;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t position) const {
    const std::int64_t token = tokens[position];
    T* const out = y + position * vocabulary;
    team.each(vocabulary,
              [&](std::int64_t c) { out[c] = static_cast<T>(Arithmetic<T>(c == token ? 1 : 0)); });
  }
};

/// Tokens i32 [n, t] to the sequence [n, vocabulary, 1, t].
class OneHotOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit OneHotOp(std::int64_t vocabulary) : vocabulary_(vocabulary) {}

  [[nodiscard]] std::string_view type() const override { return "one_hot"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.vocabulary = vocabulary_, .keeps_steps = true, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // tokens have no gradient, and none is requested
    launcher.rows(shape_of(step.inputs[0]).elements(),
                  OneHotRows<T>{tensors.inputs[0].as<const std::int32_t>(),
                                tensors.outputs[0].as<T>(), vocabulary_});
  }

 private:
  std::int64_t vocabulary_;
};

[[nodiscard]] config::Kind<Op> one_hot_kind();

}  // namespace trainyard
