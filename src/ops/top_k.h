// Whether the label is among the k classes with the largest outputs: 1 or 0 for each sample.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ops/functor_step.h"
#include "ops/metric.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// 1 if fewer than k classes rank before the label's: a class ranks before it if its value is
/// larger, or equal at a lower index. A NaN at the label's class is wrong; NaNs elsewhere rank
/// first. With one class the prediction is 1 for values above `threshold`. Padding (from
/// StepState::valid on) gives 0. A row is a sample or a position.
template <class T>
struct TopKRows {
  const T* x;  // [n, classes]
  const std::int32_t* labels;
  Arithmetic<T>* right;  // [n]
  std::int64_t classes, k;
  Arithmetic<T> threshold;
  std::int64_t positions;  // rows of a sample
  const StepState* state;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    const std::int64_t label = labels[n];
    const auto value = [&](std::int64_t c) -> A { return x[n * classes + c]; };
    const bool valid = n < state->valid * positions;
    bool hit = false;
    if (valid && classes == 1) {
      hit = label == (value(0) > threshold ? 1 : 0) && value(0) == value(0);
    } else if (valid && label >= 0 && label < classes) {
      const A own = value(label);
      const std::int32_t before =
          team.template sum<std::int32_t>(classes, [&](std::int64_t c) -> std::int32_t {
            const A other = value(c);
            const bool first = other > own || other != other || (other == own && c < label);
            return first && c != label ? 1 : 0;
          });
      hit = before < k && own == own;
    }
    team.once([&] { right[n] = hit ? A(1) : A(0); });
  }
};

struct TopKAttributes {
  std::int64_t k = 1;
  /// For a single output; by default it follows the loss, see Metric::with_threshold().
  std::optional<double> threshold;
};

/// [[n, classes], labels i32 [n]] to [n], or [[n, classes, 1, t], labels [n, t]] to [n * t]. k = 1
/// is accuracy, else top_k.
class TopKOp final : public Metric {
 public:
  static constexpr bool kElementwise = false;

  explicit TopKOp(std::string_view type, TopKAttributes attributes)
      : type_(type), attributes_(attributes) {}
  [[nodiscard]] const TopKAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::string column() const override;
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double threshold) const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // a step function has no gradient, and none is requested
    const Layout& layout = tensors.inputs[0].layout;
    launcher.rows(layout.extent[0] * layout.extent[3],
                  rows_of<T>(tensors, tensors.inputs[1], tensors.outputs[0]));
  }
  /// Of the values inputs[0].
  template <class T>
  [[nodiscard]] TopKRows<T> rows_of(const StepTensors& tensors, const TensorView& labels,
                                    const TensorView& right) const {
    const TensorView& values = tensors.inputs[0];
    return {.x = values.as<T>(),
            .labels = labels.as<const std::int32_t>(),
            .right = right.as<Arithmetic<T>>(),
            .classes = values.layout.extent[1],
            .k = attributes_.k,
            .threshold = static_cast<Arithmetic<T>>(attributes_.threshold.value_or(0)),
            .positions = values.layout.extent[3],
            .state = tensors.batch.state};
  }

 private:
  std::string_view type_;  // a literal
  TopKAttributes attributes_;
};

[[nodiscard]] config::Kind<Metric> accuracy_kind();
[[nodiscard]] config::Kind<Metric> top_k_kind();

}  // namespace trainyard
