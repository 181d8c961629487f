// Metrics: numbers for each row of a batch.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "base/math.h"
#include "compute/elementwise/functor_step.h"
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

struct TopKFunctors : FunctorsOf<TopKOp> {
  static constexpr std::array<std::string_view, 2> kOps{"accuracy", "top_k"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // a step function has no gradient, and none is requested
    const Layout& layout = tensors.inputs[0].layout;
    launcher.rows(layout.extent[0] * layout.extent[3],
                  rows_of<T>(tensors, tensors.inputs[1], tensors.outputs[0]));
  }
  /// Rows of the values inputs[0].
  template <class T>
  [[nodiscard]] TopKRows<T> rows_of(const StepTensors& tensors, const TensorView& labels,
                                    const TensorView& right) const {
    const TensorView& values = tensors.inputs[0];
    return {.x = values.as<T>(),
            .labels = labels.as<const std::int32_t>(),
            .right = right.as<Arithmetic<T>>(),
            .classes = values.layout.extent[1],
            .k = op.values().k,
            .threshold = static_cast<Arithmetic<T>>(op.values().threshold.value_or(0)),
            .positions = values.layout.extent[3],
            .state = tensors.batch.state};
  }
};

/// A sample's part in the counts of each class: predicted and labelled, predicted, labelled. The
/// predicted class is the first of those with the largest output; with one output it is 1 above
/// `threshold`, else 0. A NaN predicts no class. Padding and labels that are no class count
/// nothing; neither do classes below `first`. A row is a sample or a position.
template <class T>
struct ClassCountRows {
  using A = Arithmetic<T>;
  const T* x;  // [n, outputs]
  const std::int32_t* labels;
  A* counts;  // [n, 3, classes]
  std::int64_t outputs, classes, first;
  A threshold;
  std::int64_t positions;  // rows of a sample
  const StepState* state;

  [[nodiscard]] TY_HD A value(std::int64_t n, std::int64_t c) const {
    return static_cast<A>(x[n * outputs + c]);
  }
  /// -1 for none.
  template <class Team>
  [[nodiscard]] TY_HD std::int64_t predicted(const Team& team, std::int64_t n) const {
    const A top = team.template max<A>(outputs, -math::kInfinity<A>,
                                       [&](std::int64_t c) { return value(n, c); });
    if (top != top) return -1;
    if (outputs == 1) return top > threshold ? 1 : 0;
    return -team.template max<std::int64_t>(
        outputs, -outputs, [&](std::int64_t c) { return value(n, c) == top ? -c : -outputs; });
  }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    const std::int64_t label = labels[n], guess = predicted(team, n);
    const bool counts_label = n < state->valid * positions && label >= 0 && label < classes;
    team.each(classes, [&](std::int64_t c) {
      const bool counted = counts_label && c >= first;
      const bool guessed = counted && guess == c, labelled = counted && label == c;
      A* const out = counts + n * 3 * classes + c;
      out[0] = guessed && labelled ? A(1) : A(0);
      out[classes] = guessed ? A(1) : A(0);
      out[2 * classes] = labelled ? A(1) : A(0);
    });
  }
};

struct ClassMetricFunctors : FunctorsOf<ClassMetricOp> {
  static constexpr std::array<std::string_view, 9> kOps{
      "precision", "recall",   "f1",          "macro_precision",  "macro_recall",
      "macro_f1",  "micro_f1", "weighted_f1", "balanced_accuracy"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // a step function has no gradient, and none is requested
    const TensorView& values = tensors.inputs[0];
    const Layout& counts = tensors.outputs[0].layout;
    const std::int64_t outputs = values.layout.extent[1];
    const std::int64_t first = outputs == 1 && !op.ratio().both ? 1 : 0;
    const std::int64_t positions = values.layout.extent[3];
    launcher.rows(
        values.layout.extent[0] * positions,
        ClassCountRows<T>{values.as<T>(), tensors.inputs[1].as<const std::int32_t>(),
                          tensors.outputs[0].as<Arithmetic<T>>(), outputs, counts.extent[1] / 3,
                          first, static_cast<Arithmetic<T>>(op.threshold().value_or(0)), positions,
                          tensors.batch.state});
  }
};

/// The functors above.
using MetricList = std::tuple<TopKFunctors, ClassMetricFunctors>;

}  // namespace trainyard
