// Precision, recall and F1: of class 1 if there is a single output, else means over classes, which
// their forms `macro_` are always.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/math.h"
#include "ops/functor_step.h"
#include "ops/metric.h"
#include "ops/step_tensors.h"

namespace trainyard {

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

/// The counts of one class over a split.
struct ClassCounts {
  double right = 0;      // samples predicted as the class that have its label
  double predicted = 0;  // samples predicted as the class
  double labelled = 0;   // samples with its label
};

// A ratio whose denominator is 0 counts as 0, as in scikit-learn.
struct ClassPrecision {
  static constexpr std::string_view kName = "precision",
                                    kHelp =
                                        "samples predicted as a class that have its label, as "
                                        "a fraction: of class 1 of a single output, else the mean "
                                        "over classes";
  static constexpr bool kMacro = false;
  [[nodiscard]] static double of(const ClassCounts& counts) {
    return counts.predicted > 0 ? counts.right / counts.predicted : 0;
  }
};

struct Recall {
  static constexpr std::string_view kName = "recall",
                                    kHelp =
                                        "samples with a class's label that are predicted as it, "
                                        "as a fraction: of class 1 of a single output, else the "
                                        "mean over classes";
  static constexpr bool kMacro = false;
  [[nodiscard]] static double of(const ClassCounts& counts) {
    return counts.labelled > 0 ? counts.right / counts.labelled : 0;
  }
};

struct F1 {
  static constexpr std::string_view kName = "f1",
                                    kHelp =
                                        "harmonic mean of a class's precision and recall: of class "
                                        "1 of a single output, else the mean over classes";
  static constexpr bool kMacro = false;
  [[nodiscard]] static double of(const ClassCounts& counts) {
    const double both = counts.predicted + counts.labelled;
    return both > 0 ? 2 * counts.right / both : 0;
  }
};

// The same with the mean over both classes of a single output, too.
struct MacroPrecision : ClassPrecision {
  static constexpr std::string_view kName = "macro_precision",
                                    kHelp = "precision: the mean over classes";
  static constexpr bool kMacro = true;
};

struct MacroRecall : Recall {
  static constexpr std::string_view kName = "macro_recall", kHelp = "recall: the mean over classes";
  static constexpr bool kMacro = true;
};

struct MacroF1 : F1 {
  static constexpr std::string_view kName = "macro_f1", kHelp = "f1: the mean over classes";
  static constexpr bool kMacro = true;
};

/// The counts of class `index` among sums [3, classes].
[[nodiscard]] ClassCounts counts_of_class(std::span<const double> sums, std::int64_t index);

/// The mean of `ratio` over the classes that occur as a label or as a prediction, scikit-learn's
/// 'macro' average; 0 if there is none.
[[nodiscard]] double mean_over_classes(std::span<const double> sums,
                                       double (*ratio)(const ClassCounts&));

/// The op's shape [rows, 3 * classes]; a single output has the classes 0 and 1. Throws ShapeError.
[[nodiscard]] Signature infer_class_counts(std::string_view op, std::span<const Shape> inputs);

/// [[n, outputs], labels i32 [n]] to [n, 3 * classes], or of positions as other metrics.
template <class Ratio>
class ClassMetricOp final : public Metric {
 public:
  static constexpr bool kElementwise = false;

  explicit ClassMetricOp(std::optional<double> threshold) : threshold_(threshold) {}

  [[nodiscard]] std::string_view type() const override { return Ratio::kName; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    return infer_class_counts(Ratio::kName, inputs);
  }
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override { return threshold_text(threshold_); }
  [[nodiscard]] double finish(std::span<const double> sums,
                              std::int64_t /*samples*/) const override {
    return mean_over_classes(sums, &Ratio::of);
  }
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double threshold) const override {
    if (threshold_) return nullptr;
    const auto metric = std::make_shared<ClassMetricOp>(threshold);
    metric->output = output;
    return metric;
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // a step function has no gradient, and none is requested
    const TensorView& values = tensors.inputs[0];
    const Layout& counts = tensors.outputs[0].layout;
    const std::int64_t outputs = values.layout.extent[1];
    const std::int64_t first = outputs == 1 && !Ratio::kMacro ? 1 : 0;
    const std::int64_t positions = values.layout.extent[3];
    launcher.rows(
        values.layout.extent[0] * positions,
        ClassCountRows<T>{values.as<T>(), tensors.inputs[1].as<const std::int32_t>(),
                          tensors.outputs[0].as<Arithmetic<T>>(), outputs, counts.extent[1] / 3,
                          first, static_cast<Arithmetic<T>>(threshold_.value_or(0)), positions,
                          tensors.batch.state});
  }

 private:
  std::optional<double> threshold_;  // for a single output; by default it follows the loss
};

using PrecisionOp = ClassMetricOp<ClassPrecision>;
using RecallOp = ClassMetricOp<Recall>;
using F1Op = ClassMetricOp<F1>;
using MacroPrecisionOp = ClassMetricOp<MacroPrecision>;
using MacroRecallOp = ClassMetricOp<MacroRecall>;
using MacroF1Op = ClassMetricOp<MacroF1>;

/// The YAML name, help and reader of a class metric.
template <class Ratio>
[[nodiscard]] config::Kind<Metric> class_metric_kind() {
  return {Ratio::kName, Ratio::kHelp, [](config::Fields& fields) -> std::unique_ptr<Metric> {
            std::optional<double> threshold;
            declare_threshold(fields, threshold);
            auto metric = std::make_unique<ClassMetricOp<Ratio>>(threshold);
            declare_output(fields, *metric);
            return metric;
          }};
}

}  // namespace trainyard
