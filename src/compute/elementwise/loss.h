// Losses: a value and a gradient for each row of a batch; and the metrics that read the same
// targets.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "compute/elementwise/functor_step.h"
#include "compute/elementwise/loss_functions.h"
#include "compute/elementwise/metrics.h"
#include "ops/loss.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The rows of a batch, n samples or positions, with their targets. Pointers are device memory.
template <class T>
struct LossRows {
  using A = Arithmetic<T>;
  const T* x;  // [n, classes]
  std::int64_t classes;
  A smoothing;
  const float* dense = nullptr;          // [n, classes]
  const std::int32_t* labels = nullptr;  // or [n]
  const float* mixed = nullptr;          // [n, 2]: another class, or -1, and its share; null: none
  const float* weights = nullptr;        // [n]; null: 1
  std::int64_t positions = 1;            // rows of a sample
  const StepState* state = nullptr;

  [[nodiscard]] TY_HD bool counts(std::int64_t n) const {
    return n < state->valid * positions && (weights == nullptr || weights[n] != 0);
  }
  /// What a row's loss is multiplied by.
  [[nodiscard]] TY_HD A factor(std::int64_t n) const {
    return weights != nullptr ? A(weights[n]) : A(1) / static_cast<A>(positions);
  }
  [[nodiscard]] TY_HD LossRow<T> row(std::int64_t n) const {
    LossRow<T> row{x + n * classes, classes, smoothing};
    if (dense != nullptr) {
      row.dense = dense + n * classes;
      return row;
    }
    row.label = labels[n];
    if (mixed == nullptr) return row;
    row.second = static_cast<std::int64_t>(mixed[2 * n]);
    row.share = A(mixed[2 * n + 1]);
    return row;
  }
};

/// The rows of an op that compares values with labels or numbers: its inputs.
template <class T>
[[nodiscard]] LossRows<T> rows_with_target(const StepTensors& tensors) {
  const TensorView &values = tensors.inputs[0], &target = tensors.inputs[1];
  LossRows<T> rows{.x = values.as<T>(),
                   .classes = values.layout.extent[1],
                   .smoothing = 0,
                   .positions = values.layout.extent[3],
                   .state = tensors.batch.state};
  if (target.type == DType::f32) {
    rows.dense = target.as<const float>();
  } else {
    rows.labels = target.as<const std::int32_t>();
  }
  return rows;
}

/// Forward: a row is a sample or a position.
template <class Loss, class T>
struct LossValues {
  LossRows<T> rows;
  Arithmetic<T>* losses;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    A loss = A(0);
    if (rows.counts(n)) {
      const LossRow<T> row = rows.row(n);
      loss = row.has_target() ? Loss{}.value(team, row) : math::kNotANumber<A>;
      loss *= rows.factor(n);
    }
    team.once([&] { losses[n] = loss; });
  }
};

/// Backward: a row is a sample or a position. dx may be x.
template <class Loss, class T>
struct LossGradients {
  LossRows<T> rows;
  const Arithmetic<T>* dy;  // [n]; null: the state's gradient scale
  T* dx;                    // [n, classes]
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    T* const out = dx + n * rows.classes;
    if (!rows.counts(n)) return team.each(rows.classes, [&](std::int64_t c) { out[c] = T{}; });
    A scale = dy != nullptr ? dy[n] : static_cast<A>(rows.state->gradient_scale);
    scale *= rows.factor(n);
    Loss{}.gradient(team, rows.row(n), scale, out);
  }
};

/// What StepForm::loss computes of a row; the values' gradient comes last, since it may take their
/// place.
template <class Loss, class T>
struct LossHeadRows {
  LossValues<Loss, T> values;
  LossGradients<Loss, T> gradients;
  TopKRows<T> accuracy = {};            // without `right`: none
  T* x = nullptr;                       // [n, classes]
  const Arithmetic<T>* bias = nullptr;  // [classes], which x lacks; null: nothing
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    if (bias != nullptr) {
      T* const own = x + n * values.rows.classes;
      team.each(values.rows.classes, [&](std::int64_t c) {
        own[c] = static_cast<T>(static_cast<Arithmetic<T>>(own[c]) + bias[c]);
      });
    }
    if (accuracy.right != nullptr) accuracy(team, n);
    values(team, n);
    gradients(team, n);
  }
};

template <class Loss>
struct LossFunctors : FunctorsOf<LossOp> {
  static constexpr std::array<std::string_view, 1> kOps{Loss::kName};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const LossRows<T> rows = rows_of<T>(step, tensors);
    const std::int64_t count = tensors.inputs[0].layout.extent[0] * rows.positions;
    if (step.form.loss) {
      launcher.rows(count, head_of<T>(step, tensors, rows));
    } else if (step.backward()) {
      const A* const dy =
          tensors.output_gradients.empty() ? nullptr : tensors.output_gradients[0].as<const A>();
      launcher.rows(count, LossGradients<Loss, T>{rows, dy, tensors.input_gradients[0].as<T>()});
    } else {
      launcher.rows(count, LossValues<Loss, T>{rows, tensors.outputs[0].as<A>()});
    }
  }

 private:
  template <class T>
  [[nodiscard]] LossHeadRows<Loss, T> head_of(const FunctorStep& step, const StepTensors& tensors,
                                              const LossRows<T>& rows) const {
    using A = Arithmetic<T>;
    LossHeadRows<Loss, T> head{.values = {rows, tensors.outputs[0].as<A>()},
                               .gradients = {rows, nullptr, tensors.input_gradients[0].as<T>()}};
    if (const TopKOp* const accuracy = step.form.accuracy) {
      head.accuracy =
          TopKFunctors{{*accuracy}}.rows_of<T>(tensors, tensors.inputs.back(), tensors.outputs[1]);
    }
    if (step.form.adds_layer_bias()) {
      head.x = tensors.inputs[0].as<T>();
      head.bias = tensors.parameters[0].as<const A>();
    }
    return head;
  }

  template <class T>
  [[nodiscard]] LossRows<T> rows_of(const FunctorStep& step, const StepTensors& tensors) const {
    LossRows<T> rows = rows_with_target<T>(tensors);
    rows.smoothing = static_cast<Arithmetic<T>>(this->op.values().label_smoothing);
    const std::size_t last = step.inputs.size() - 1;
    const bool has_mixed =
        last > 1 && tensors.inputs[0].layout.rank == 2 && tensors.inputs[last].layout.rank == 2;
    if (has_mixed) rows.mixed = tensors.inputs[last].as<const float>();
    if (last == (has_mixed ? 3 : 2)) rows.weights = tensors.inputs[2].as<const float>();
    return rows;
  }
};

/// sum[n] = sum over losses of weight * loss[n], in their order.
template <class A>
struct SumLosses {
  const A* losses[kMostLosses];  // [n]
  double weights[kMostLosses];
  int count;
  A* sum;  // [n]
  TY_HD void operator()(std::int64_t n) const {
    A total = A(0);
    for (int i = 0; i < count; ++i) total += static_cast<A>(weights[i]) * losses[i][n];
    sum[n] = total;
  }
};

/// The gradient of each loss: its weight times the state's gradient scale.
template <class A>
struct LossSumGradients {
  A* gradients[kMostLosses];  // [n]; null: not needed
  double weights[kMostLosses];
  int count;
  const StepState* state;
  TY_HD void operator()(std::int64_t n) const {
    for (int i = 0; i < count; ++i) {
      if (gradients[i] != nullptr) {
        gradients[i][n] = static_cast<A>(weights[i] * state->gradient_scale);
      }
    }
  }
};

struct LossSumFunctors : FunctorsOf<LossSumOp> {
  static constexpr std::array<std::string_view, 1> kOps{"loss_sum"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const std::int64_t samples = step.inputs[0].extent[0];
    const std::span<const double> weights = op.weights();
    const int count = static_cast<int>(weights.size());
    if (step.backward()) {
      LossSumGradients<A> backward{{}, {}, count, tensors.batch.state};
      for (int i = 0; i < count; ++i) {
        backward.gradients[i] = tensors.input_gradients[i].as<A>();
        backward.weights[i] = weights[i];
      }
      return launcher.each(samples, backward);
    }
    SumLosses<A> forward{{}, {}, count, tensors.outputs[0].as<A>()};
    for (int i = 0; i < count; ++i) {
      forward.losses[i] = tensors.inputs[i].as<const A>();
      forward.weights[i] = weights[i];
    }
    launcher.each(samples, forward);
  }
};

/// -log p of the label's class, with p = softmax(x): the cross-entropy without smoothing. A row is
/// a sample or a position.
template <class T>
struct LikelihoodRows {
  LossRows<T> rows;
  Arithmetic<T>* values;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    A value = A(0);
    if (rows.counts(n)) {
      const LossRow<T> row = rows.row(n);
      value = row.has_target() ? CrossEntropy{}.value(team, row) : math::kNotANumber<A>;
    }
    team.once([&] { values[n] = value; });
  }
};

struct LikelihoodFunctors : FunctorsOf<LikelihoodOp> {
  static constexpr std::array<std::string_view, 2> kOps{"perplexity", "bits_per_character"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // metrics have no gradient, and none is requested
    const LossRows<T> rows = rows_with_target<T>(tensors);
    launcher.rows(tensors.inputs[0].layout.extent[0] * rows.positions,
                  LikelihoodRows<T>{rows, tensors.outputs[0].as<Arithmetic<T>>()});
  }
};

/// The numbers of a row of RegressionMetricOp.
template <class T>
struct RegressionRows {
  using A = Arithmetic<T>;
  using Measure = RegressionMetricOp::Measure;
  LossRows<T> rows;
  A* numbers;  // [n, width]
  std::int64_t width;
  Measure measure;

  /// What stands in column `at` of the row.
  [[nodiscard]] TY_HD A number(const LossRow<T>& row, std::int64_t at) const {
    const std::int64_t c = at % row.classes, part = at / row.classes;
    const A t = row.target(c), d = row.value(c) - t, square = t * t;
    if (measure == Measure::mae) return math::abs(d);
    return part == 0 ? d * d : part == 1 ? t : part == 2 ? square : math::fma(t, t, -square);
  }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    A* const out = numbers + n * width;
    if (!rows.counts(n)) return team.each(width, [&](std::int64_t at) { out[at] = A(0); });
    const LossRow<T> row = rows.row(n);
    if (!row.has_target()) {
      return team.each(width, [&](std::int64_t at) { out[at] = math::kNotANumber<A>; });
    }
    team.each(width, [&](std::int64_t at) { out[at] = number(row, at); });
  }
};

struct RegressionFunctors : FunctorsOf<RegressionMetricOp> {
  static constexpr std::array<std::string_view, 3> kOps{"mean_absolute_error",
                                                        "root_mean_squared_error", "r2_score"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // metrics have no gradient, and none is requested
    const TensorView& numbers = tensors.outputs[0];
    const std::int64_t width = numbers.layout.rank == 1 ? 1 : numbers.layout.extent[1];
    const Layout& values = tensors.inputs[0].layout;
    launcher.rows(values.extent[0] * values.extent[3],
                  RegressionRows<T>{rows_with_target<T>(tensors), numbers.as<Arithmetic<T>>(),
                                    width, op.measure()});
  }
};

template <class... Functions>
std::tuple<LossFunctors<Functions>..., LossSumFunctors, LikelihoodFunctors, RegressionFunctors>
    list_losses(std::tuple<Functions...>);

/// The functors of every loss, and those above.
using LossList = decltype(list_losses(std::declval<LossFunctions>()));

}  // namespace trainyard
