// What a network's output is measured by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/fields.h"
#include "ops/op.h"

namespace trainyard {

/// A metric: from values [n, classes] and labels i32 [n] to numbers per row, [n] or [n, width]
/// in the arithmetic type, whose sums over rows make its value. A row is a sample or, of values
/// [n, classes, 1, t] with labels [n, t], a position. Padding (from StepState::valid on) gives
/// zeros.
class Metric : public Op {
 public:
  [[nodiscard]] int arity() const override { return 2; }
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
  /// True if its values must be what cross_entropy takes, before the softmax.
  [[nodiscard]] virtual bool reads_logits() const { return false; }
  /// The same with this threshold, above which a single output predicts class 1, or null if it has
  /// one already.
  [[nodiscard]] virtual std::shared_ptr<const Metric> with_threshold(double threshold) const = 0;
};

/// The column of metrics.csv of a metric: "accuracy", "aux_accuracy" on the output 'aux'.
[[nodiscard]] std::string column_of(const Metric& metric);

/// The numbers per row of a metric's output, [n] or [n, width].
[[nodiscard]] inline std::int64_t metric_width(const Shape& output) {
  return output.rank() == 1 ? 1 : output.c();
}

/// The key `output`, which every metric has.
void declare_output(config::Fields& fields, Metric& metric);
/// The key `threshold` of metrics that predict from a single output, and its text.
void declare_threshold(config::Fields& fields, std::optional<double>& threshold);
[[nodiscard]] std::string threshold_text(const std::optional<double>& threshold);

}  // namespace trainyard
