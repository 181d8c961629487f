// What a network's output is measured by.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace trainyard {

/// A metric: from values [n, classes] and labels i32 [n], or the target of a loss, to numbers per
/// row, [n] or [n, width]
/// in the arithmetic type, whose sums over rows make its value. A row is a sample or, of values
/// [n, classes, 1, t] with labels [n, t], a position. Padding (from StepState::valid on) gives
/// zeros.
class Metric : public Op {
 public:
  [[nodiscard]] int arity() const override { return 2; }
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::rows};
  }
  /// The output of the network that it measures, by name; "": the last layer.
  std::string output;
  /// Its column of metrics.csv, without the name of an output: "accuracy", "top5_accuracy".
  [[nodiscard]] virtual std::string column() const { return std::string(type()); }
  /// The value that the sums [width] over `rows` rows make: their mean, unless it says otherwise.
  [[nodiscard]] virtual double finish(std::span<const double> sums, std::int64_t rows) const {
    return sums[0] / static_cast<double>(rows);
  }
  /// True if it has no numbers per row: its value is made of the outputs for a whole split, on the
  /// host, for which a training epoch has none.
  [[nodiscard]] virtual bool of_split() const { return false; }
  /// True if it compares its output with the target of the loss on it, in place of the label.
  [[nodiscard]] virtual bool of_target() const { return false; }
  /// True if its values must be what cross_entropy takes, before the softmax.
  [[nodiscard]] virtual bool reads_logits() const { return false; }
  /// The same with this threshold, above which a single output predicts class 1, or null if it has
  /// one already or needs none.
  [[nodiscard]] virtual std::shared_ptr<const Metric> with_threshold(double /*threshold*/) const {
    return nullptr;
  }
};

/// The column of metrics.csv of a metric: "accuracy", "aux_accuracy" on the output 'aux'.
[[nodiscard]] std::string column_of(const Metric& metric);

/// The numbers per row of a metric's output, [n] or [n, width].
[[nodiscard]] inline std::int64_t metric_width(const Shape& output) {
  return output.rank() == 1 ? 1 : output.c();
}

struct TopKAttributes {
  std::int64_t k = 1;
  /// For a single output; by default it follows the loss, see Metric::with_threshold().
  std::optional<double> threshold;
};

/// Whether the label is among the k classes with the largest outputs: [[n, classes], labels i32
/// [n]] to [n], or [[n, classes, 1, t], labels [n, t]] to [n * t]. k = 1 is accuracy, else top_k.
class TopKOp final : public Metric {
 public:
  explicit TopKOp(std::string_view type, TopKAttributes attributes)
      : type_(type), attributes_(attributes) {}
  [[nodiscard]] const TopKAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::string column() const override;
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double threshold) const override;

 private:
  std::string_view type_;  // a literal
  TopKAttributes attributes_;
};

/// What a metric makes of the classes' counts, sums [3, classes]. A ratio whose denominator is 0
/// counts as 0, as in scikit-learn.
struct ClassRatio {
  std::string_view name, help;
  double (*of)(std::span<const double> sums);
  bool both = false;  // F1 of both classes of a single output, instead of class 1
};

/// Precision, recall and F1, their averages over classes, and balanced accuracy: [[n, outputs],
/// labels i32 [n]] to [n, 3 * classes], or of positions as other metrics; a single output has the
/// classes 0 and 1.
class ClassMetricOp final : public Metric {
 public:
  /// `type` is the name of a ratio.
  ClassMetricOp(std::string_view type, std::optional<double> threshold);
  [[nodiscard]] const ClassRatio& ratio() const { return *ratio_; }
  [[nodiscard]] const std::optional<double>& threshold() const { return threshold_; }

  [[nodiscard]] std::string_view type() const override { return ratio_->name; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] double finish(std::span<const double> sums, std::int64_t samples) const override;
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double threshold) const override;

 private:
  const ClassRatio* ratio_;
  std::optional<double> threshold_;  // for a single output; by default it follows the loss
};

/// How probable the labels are, of logits: perplexity, e^(the mean cross-entropy), or the mean in
/// bits, bits_per_character. [[n, classes], labels i32 [n]] to [n], or [[n, classes, 1, t], labels
/// [n, t]] to [n * t].
class LikelihoodOp final : public Metric {
 public:
  explicit LikelihoodOp(std::string_view type) : type_(type) {}

  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] double finish(std::span<const double> sums, std::int64_t rows) const override;
  [[nodiscard]] bool reads_logits() const override { return true; }

 private:
  std::string_view type_;  // a literal
};

/// How far numbers are from a loss's target, as scikit-learn's function of the op's name, averages
/// over outputs: [[n, outputs], target] to [n, width]. The target is that of losses (ops/loss.h).
///   mae   mean_absolute_error: |x - t| of each output
///   rmse  root_mean_squared_error: (x - t)^2 of each output; the mean of the roots of their means
///   r2    r2_score: 1 - sum of (x - t)^2 / sum of (t - mean of t)^2, from (x - t)^2, t and t^2 of
///         each output, the last as a rounded square and what it lacks. A constant target, up to a
///         deviation of a millionth of its root mean square, gives 1 if every x is t, else 0;
///         fewer than two rows give NaN.
class RegressionMetricOp final : public Metric {
 public:
  enum class Measure { mae, rmse, r2 };
  /// `deviations`: the units of mae and rmse, for each output; empty: 1.
  explicit RegressionMetricOp(Measure measure, std::vector<double> deviations = {})
      : measure_(measure), deviations_(std::move(deviations)) {}
  [[nodiscard]] Measure measure() const { return measure_; }

  [[nodiscard]] std::string_view type() const override;
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::string column() const override;
  [[nodiscard]] double finish(std::span<const double> sums, std::int64_t rows) const override;
  [[nodiscard]] bool of_target() const override { return true; }

 private:
  Measure measure_;
  std::vector<double> deviations_;
};

/// The metric in the units that standardised targets had before; `metric` itself if it has none.
[[nodiscard]] std::shared_ptr<const Metric> in_units_of(const std::shared_ptr<const Metric>& metric,
                                                        const std::vector<double>& deviations);

/// A metric of which a graph has the name alone: its value is made of all outputs of the last layer
/// (report/class_scores.h). The area under the receiver operating characteristic, auc, and
/// mean_average_precision, which is also of several labels at once.
class SplitMetric final : public Metric {
 public:
  SplitMetric(std::string_view type, bool of_target) : type_(type), of_target_(of_target) {}

  [[nodiscard]] std::string_view type() const override { return type_; }
  [[nodiscard]] Signature infer(std::span<const Shape>) const override { return {}; }
  [[nodiscard]] Contract contract() const override { return {}; }
  [[nodiscard]] bool of_split() const override { return true; }
  [[nodiscard]] bool of_target() const override { return of_target_; }
  [[nodiscard]] double finish(std::span<const double>, std::int64_t) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  std::string_view type_;  // a literal
  bool of_target_;
};

/// True for the column of a loss, an error or a metric of which less is better, with any prefix:
/// "val_loss", "aux_rmse", "val_perplexity".
[[nodiscard]] bool lower_is_better(std::string_view column);

/// The YAML names, helps and readers of all metrics, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Metric>> metric_kinds();

}  // namespace trainyard
