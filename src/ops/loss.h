// Losses on the network's output: a loss and a gradient per sample.
//
// Inputs: values [n, classes] (logits if the loss includes an activation) and labels i32 [n].
// Output: the loss of each sample [n], in the arithmetic type. With one class the target is the
// label itself, 0 or 1; else it is 1 for the label's class and 0 for the others. Backward gives the
// gradient of gradient_scale * sum of losses. Samples from StepState::valid on (padding) give zero
// by selection, whatever they contain. A label that is not a class gives NaN.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/math.h"
#include "ops/activation.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// One row of values, stored as S, with its target.
template <class S>
struct LossRow {
  using T = Arithmetic<S>;
  const S* x;  // [classes]
  std::int64_t classes;
  std::int64_t label;
  T smoothing;

  [[nodiscard]] TY_HD T value(std::int64_t c) const { return static_cast<T>(x[c]); }
  [[nodiscard]] TY_HD bool label_is_class() const {
    return label >= 0 && label < (classes == 1 ? 2 : classes);
  }
  /// 1 or 0, before smoothing.
  [[nodiscard]] TY_HD T hard_target(std::int64_t c) const {
    return classes == 1 ? static_cast<T>(label) : static_cast<T>(c == label);
  }
};

struct LossAttributes {
  double label_smoothing = 0;  // in [0, 1); mse has none
};

/// -sum of t_c log p_c with p = softmax(x) and t = (1 - s) * one-hot + s / classes (Szegedy et al.
/// 2016, equation 9). Gradient: p - t.
struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy", kHelp = "softmax cross-entropy";
  static constexpr bool kSmooths = true;
  static constexpr std::int64_t kLeastClasses = 2;

  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T top(const Team& team, const LossRow<S>& row) {
    return team.template max<T>(row.classes, -math::kInfinity<T>,
                                [&](std::int64_t c) { return row.value(c); });
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T sum_of_exp(const Team& team, const LossRow<S>& row, Arithmetic<S> top) {
    return team.template sum<T>(row.classes,
                                [&](std::int64_t c) { return math::exp(row.value(c) - top); });
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T most = top(team, row);
    const T log_sum = math::log(sum_of_exp(team, row, most));
    // -log p_c = log_sum - (x_c - most), a sum of two non-negative terms.
    const T of_label = log_sum - (row.value(row.label) - most);
    if (!(row.smoothing > 0)) return of_label;
    const T all = team.template sum<T>(
        row.classes, [&](std::int64_t c) { return log_sum - (row.value(c) - most); });
    return (T(1) - row.smoothing) * of_label + row.smoothing * (all / T(row.classes));
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T most = top(team, row);
    const T sum = sum_of_exp(team, row, most);
    const T even = row.smoothing / T(row.classes);
    team.each(row.classes, [&](std::int64_t c) {
      const T target = (T(1) - row.smoothing) * row.hard_target(c) + even;
      dx[c] = static_cast<S>((math::exp(row.value(c) - most) / sum - target) * scale);
    });
  }
};

/// Mean over classes of max(x, 0) - x t + log(1 + e^-|x|), which is -t log p - (1 - t) log(1 - p)
/// with p = sigmoid(x), and t = (1 - s) * one-hot + s / 2 (Keras). Gradient: (p - t) / classes.
struct BinaryCrossEntropy {
  static constexpr std::string_view kName = "binary_cross_entropy",
                                    kHelp = "sigmoid cross-entropy, mean over outputs";
  static constexpr bool kSmooths = true;
  static constexpr std::int64_t kLeastClasses = 1;

  template <class S, class T = Arithmetic<S>>
  TY_HD static T target(const LossRow<S>& row, std::int64_t c) {
    return (T(1) - row.smoothing) * row.hard_target(c) + T(0.5) * row.smoothing;
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T sum = team.template sum<T>(row.classes, [&](std::int64_t c) {
      const T x = row.value(c);
      // softplus(x) - x t; where x > 0, x - x t = x (1 - t) without cancellation.
      const T linear = x > 0 ? x * (T(1) - target(row, c)) : -x * target(row, c);
      return linear + math::log1p(math::exp(-math::abs(x)));
    });
    return sum / T(row.classes);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T factor = scale / T(row.classes);
    team.each(row.classes, [&](std::int64_t c) {
      dx[c] = static_cast<S>((Sigmoid{}.value(row.value(c)) - target(row, c)) * factor);
    });
  }
};

/// Mean over classes of (x - t)^2. Gradient: 2 (x - t) / classes.
struct MeanSquaredError {
  static constexpr std::string_view kName = "mse",
                                    kHelp = "mean squared error against the one-hot label";
  static constexpr bool kSmooths = false;
  static constexpr std::int64_t kLeastClasses = 1;

  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T sum = team.template sum<T>(row.classes, [&](std::int64_t c) {
      const T difference = row.value(c) - row.hard_target(c);
      return difference * difference;
    });
    return sum / T(row.classes);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T factor = T(2) * scale / T(row.classes);
    team.each(row.classes, [&](std::int64_t c) {
      dx[c] = static_cast<S>((row.value(c) - row.hard_target(c)) * factor);
    });
  }
};

/// Forward: a row is a sample.
template <class Loss, class T>
struct LossValues {
  const T* x;  // [n, classes]
  const std::int32_t* labels;
  Arithmetic<T>* losses;
  std::int64_t classes;
  Arithmetic<T> smoothing;
  const StepState* state;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    const LossRow<T> row{x + n * classes, classes, labels[n], smoothing};
    A loss = A(0);
    if (n < state->valid) {
      loss = row.label_is_class() ? Loss{}.value(team, row) : math::kNotANumber<A>;
    }
    team.once([&] { losses[n] = loss; });
  }
};

/// Backward: a row is a sample. dx may be x.
template <class Loss, class T>
struct LossGradients {
  const T* x;  // [n, classes]
  const std::int32_t* labels;
  T* dx;  // [n, classes]
  std::int64_t classes;
  Arithmetic<T> smoothing;
  const StepState* state;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    T* const out = dx + n * classes;
    if (n < state->valid) {
      const LossRow<T> row{x + n * classes, classes, labels[n], smoothing};
      Loss{}.gradient(team, row, static_cast<Arithmetic<T>>(state->gradient_scale), out);
    } else {
      team.each(classes, [&](std::int64_t c) { out[c] = T{}; });
    }
  }
};

/// [[n, classes], labels [n]] to [n].
template <class Loss>
class LossOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit LossOp(LossAttributes attributes) : attributes_(attributes) {}
  [[nodiscard]] const LossAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return Loss::kName; }
  [[nodiscard]] int arity() const override { return 2; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .arithmetic_outputs = true,
            .layouts = Contract::Layouts::plain};
  }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& values = tensors.inputs[0];
    const std::int64_t samples = values.layout.extent[0], classes = values.layout.extent[1];
    const auto* labels = tensors.inputs[1].as<const std::int32_t>();
    using A = Arithmetic<T>;
    const A smoothing = static_cast<A>(attributes_.label_smoothing);
    const StepState* state = tensors.batch.state;
    if (step.backward()) {
      launcher.rows(samples, LossGradients<Loss, T>{values.as<T>(), labels,
                                                    tensors.input_gradients[0].as<T>(), classes,
                                                    smoothing, state});
    } else {
      launcher.rows(samples, LossValues<Loss, T>{values.as<T>(), labels, tensors.outputs[0].as<A>(),
                                                 classes, smoothing, state});
    }
  }

 private:
  LossAttributes attributes_;
};

using CrossEntropyOp = LossOp<CrossEntropy>;
using BinaryCrossEntropyOp = LossOp<BinaryCrossEntropy>;
using MeanSquaredErrorOp = LossOp<MeanSquaredError>;

/// The shape [n] of one result per sample. Throws ShapeError unless values are [n, classes] with at
/// least `least_classes` and labels are [n].
[[nodiscard]] Signature infer_per_sample(std::string_view op, std::span<const Shape> inputs,
                                         std::int64_t least_classes);
[[nodiscard]] std::string text_of(const LossAttributes& loss);
void declare(config::Fields& fields, LossAttributes& loss);

template <class Loss>
Signature LossOp<Loss>::infer(std::span<const Shape> inputs) const {
  return infer_per_sample(Loss::kName, inputs, Loss::kLeastClasses);
}

template <class Loss>
std::string LossOp<Loss>::attributes() const {
  return Loss::kSmooths ? text_of(attributes_) : "{}";
}

/// The YAML name, help and reader of a loss.
template <class Loss>
[[nodiscard]] config::Kind<Op> loss_kind() {
  return {Loss::kName, Loss::kHelp, [](config::Fields& fields) -> std::unique_ptr<Op> {
            LossAttributes attributes;
            if constexpr (Loss::kSmooths) declare(fields, attributes);
            return std::make_unique<LossOp<Loss>>(attributes);
          }};
}

}  // namespace trainyard
