#include "ops/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "ops/loss.h"

namespace trainyard {
namespace {

/// The counts of one class over a split.
struct ClassCounts {
  double right = 0;      // samples predicted as the class that have its label
  double predicted = 0;  // samples predicted as the class
  double labelled = 0;   // samples with its label
};

double precision(const ClassCounts& counts) {
  return counts.predicted > 0 ? counts.right / counts.predicted : 0;
}
double recall(const ClassCounts& counts) {
  return counts.labelled > 0 ? counts.right / counts.labelled : 0;
}
double f1(const ClassCounts& counts) {
  const double both = counts.predicted + counts.labelled;
  return both > 0 ? 2 * counts.right / both : 0;
}

/// The counts of class `index` among sums [3, classes].
ClassCounts counts_of_class(std::span<const double> sums, std::int64_t index) {
  const std::size_t classes = sums.size() / 3, at = static_cast<std::size_t>(index);
  return {.right = sums[at], .predicted = sums[classes + at], .labelled = sums[2 * classes + at]};
}

double micro_f1(std::span<const double> sums) {
  ClassCounts all;
  for (std::int64_t c = 0; c < std::ssize(sums) / 3; ++c) {
    const ClassCounts counts = counts_of_class(sums, c);
    all.right += counts.right;
    all.predicted += counts.predicted;
    all.labelled += counts.labelled;
  }
  return f1(all);
}

/// The mean of `value` over the classes, each with its weight; 0 if all weights are.
double weighted_mean(std::span<const double> sums, double (*value)(const ClassCounts&),
                     double (*weight)(const ClassCounts&)) {
  double total = 0, weights = 0;
  for (std::int64_t c = 0; c < std::ssize(sums) / 3; ++c) {
    const ClassCounts counts = counts_of_class(sums, c);
    total += weight(counts) * value(counts);
    weights += weight(counts);
  }
  return weights > 0 ? total / weights : 0;
}

double weighted_f1(std::span<const double> sums) {
  return weighted_mean(sums, f1, [](const ClassCounts& counts) { return counts.labelled; });
}

double balanced_accuracy(std::span<const double> sums) {
  return weighted_mean(sums, recall,
                       [](const ClassCounts& counts) { return counts.labelled > 0 ? 1.0 : 0.0; });
}

/// The mean of `ratio` over the classes that occur as a label or as a prediction, scikit-learn's
/// 'macro' average.
template <double (*ratio)(const ClassCounts&)>
double macro(std::span<const double> sums) {
  return weighted_mean(sums, ratio, [](const ClassCounts& counts) {
    return counts.predicted + counts.labelled > 0 ? 1.0 : 0.0;
  });
}

constexpr std::array<ClassRatio, 9> kRatios{{
    {"precision",
     "samples predicted as a class that have its label, as a fraction: of class 1 of a single "
     "output, else the mean over classes",
     &macro<&precision>},
    {"recall",
     "samples with a class's label that are predicted as it, as a fraction: of class 1 of a single "
     "output, else the mean over classes",
     &macro<&recall>},
    {"f1",
     "harmonic mean of a class's precision and recall: of class 1 of a single output, else the "
     "mean over classes",
     &macro<&f1>},
    {"macro_precision", "precision: the mean over classes", &macro<&precision>, true},
    {"macro_recall", "recall: the mean over classes", &macro<&recall>, true},
    {"macro_f1", "f1: the mean over classes", &macro<&f1>, true},
    {"micro_f1", "f1 of the counts of all classes together", &micro_f1, true},
    {"weighted_f1", "f1: the mean over classes, each weighted by its samples", &weighted_f1, true},
    {"balanced_accuracy", "recall: the mean over the classes that have samples", &balanced_accuracy,
     true},
}};

std::string threshold_text(const std::optional<double>& threshold) {
  return "{threshold: " + number_text(threshold.value_or(0)) + "}";
}

}  // namespace

std::string column_of(const Metric& metric) {
  return metric.output.empty() ? metric.column() : metric.output + "_" + metric.column();
}

Signature TopKOp::infer(std::span<const Shape> inputs) const {
  Signature signature = infer_per_row(type_, inputs, 1);
  if (attributes_.k > 1 && attributes_.k >= inputs[0].c()) {
    throw ShapeError(fmt::format("{} with k = {} is always 1 for {} classes; lower k", type_,
                                 attributes_.k, inputs[0].c()));
  }
  return signature;
}

std::string TopKOp::attributes() const {
  if (type_ == "top_k") return "{k: " + number_text(attributes_.k) + "}";
  return threshold_text(attributes_.threshold);
}

std::string TopKOp::column() const {
  return type_ == "top_k" ? "top" + std::to_string(attributes_.k) + "_accuracy"
                          : std::string(type_);
}

std::shared_ptr<const Metric> TopKOp::with_threshold(double threshold) const {
  if (attributes_.threshold) return nullptr;
  TopKAttributes attributes = attributes_;
  attributes.threshold = threshold;
  const auto metric = std::make_shared<TopKOp>(type_, attributes);
  metric->output = output;
  return metric;
}

ClassMetricOp::ClassMetricOp(std::string_view type, std::optional<double> threshold)
    : ratio_(std::ranges::find(kRatios, type, &ClassRatio::name)), threshold_(threshold) {
  TY_CHECK(ratio_ != kRatios.end(), type);
}

Signature ClassMetricOp::infer(std::span<const Shape> inputs) const {
  Signature signature = infer_per_row(type(), inputs, 1);
  const std::int64_t outputs = inputs[0].c();
  signature.outputs[0] = {inputs[1].elements(), 3 * (outputs == 1 ? 2 : outputs)};
  return signature;
}

std::string ClassMetricOp::attributes() const { return threshold_text(threshold_); }

double ClassMetricOp::finish(std::span<const double> sums, std::int64_t /*samples*/) const {
  return ratio_->of(sums);
}

std::shared_ptr<const Metric> ClassMetricOp::with_threshold(double threshold) const {
  if (threshold_) return nullptr;
  const auto metric = std::make_shared<ClassMetricOp>(type(), threshold);
  metric->output = output;
  return metric;
}

namespace {

using Measure = RegressionMetricOp::Measure;

/// Numbers of each output in a row.
std::int64_t numbers_of(Measure measure) { return measure == Measure::r2 ? 4 : 1; }

/// R2 of output c of sums [4, outputs].
double r2_of_output(std::span<const double> sums, std::size_t c, double rows) {
  constexpr double kSpread = 1e-12;  // part of the squares below which a target is constant
  const std::size_t outputs = sums.size() / 4;
  const double left = sums[c], sum = sums[outputs + c];
  const double squares = sums[2 * outputs + c] + sums[3 * outputs + c];
  const double all = squares - sum * sum / rows;
  if (all != all || left != left) return std::numeric_limits<double>::quiet_NaN();
  if (all <= kSpread * squares) return left == 0 ? 1 : 0;
  return 1 - left / all;
}

}  // namespace

std::string_view RegressionMetricOp::type() const {
  return measure_ == Measure::mae    ? "mean_absolute_error"
         : measure_ == Measure::rmse ? "root_mean_squared_error"
                                     : "r2_score";
}

std::string RegressionMetricOp::column() const {
  return measure_ == Measure::mae ? "mae" : measure_ == Measure::rmse ? "rmse" : "r2";
}

Signature RegressionMetricOp::infer(std::span<const Shape> inputs) const {
  Signature signature = infer_per_target(type(), inputs);
  signature.outputs[0] = {signature.outputs[0].n(), numbers_of(measure_) * inputs[0].c()};
  return signature;
}

double RegressionMetricOp::finish(std::span<const double> sums, std::int64_t rows) const {
  const auto count = static_cast<double>(rows);
  if (measure_ == Measure::r2 && rows < 2) return std::numeric_limits<double>::quiet_NaN();
  const auto outputs = sums.size() / static_cast<std::size_t>(numbers_of(measure_));
  double total = 0;
  for (std::size_t c = 0; c < outputs; ++c) {
    const double deviation = deviations_.empty() ? 1 : deviations_[c % deviations_.size()];
    total += measure_ == Measure::r2    ? r2_of_output(sums, c, count)
             : measure_ == Measure::mae ? sums[c] / count * deviation
                                        : std::sqrt(sums[c] / count) * deviation;
  }
  return total / static_cast<double>(outputs);
}

std::shared_ptr<const Metric> in_units_of(const std::shared_ptr<const Metric>& metric,
                                          const std::vector<double>& deviations) {
  const auto* const of = dynamic_cast<const RegressionMetricOp*>(metric.get());
  if (of == nullptr || deviations.empty()) return metric;
  auto scaled = std::make_shared<RegressionMetricOp>(of->measure(), deviations);
  scaled->output = of->output;
  return scaled;
}

bool lower_is_better(std::string_view column) {
  if (column.find("loss") != column.npos || column.find("error") != column.npos) return true;
  constexpr std::array<std::string_view, 4> kLess{"mae", "rmse", "perplexity",
                                                  "bits_per_character"};
  return std::ranges::any_of(kLess, [&](std::string_view name) {
    if (!column.ends_with(name)) return false;
    return column.size() == name.size() || column[column.size() - name.size() - 1] == '_';
  });
}

Signature LikelihoodOp::infer(std::span<const Shape> inputs) const {
  return infer_per_row(type_, inputs, 2);
}

double LikelihoodOp::finish(std::span<const double> sums, std::int64_t rows) const {
  const double mean = sums[0] / static_cast<double>(rows);
  return type_ == "perplexity" ? std::exp(mean) : mean / std::numbers::ln2;
}

namespace {

/// Reads the key `output`, which every metric has.
std::unique_ptr<Metric> with_output(config::Fields& fields, std::unique_ptr<Metric> metric) {
  fields.field("output", metric->output,
               "output of the network that it measures; left out: the last layer");
  return metric;
}

/// The key `threshold` of metrics that predict from a single output.
void declare_threshold(config::Fields& fields, std::optional<double>& threshold) {
  fields.field("threshold", threshold,
               "a single output above it predicts 1; default: 0 if the loss reads logits "
               "(binary_cross_entropy), else 0.5, between the labels 0 and 1");
}

std::unique_ptr<Metric> read_accuracy(config::Fields& fields) {
  TopKAttributes attributes;
  declare_threshold(fields, attributes.threshold);
  return with_output(fields, std::make_unique<TopKOp>("accuracy", attributes));
}

std::unique_ptr<Metric> read_top_k(config::Fields& fields) {
  TopKAttributes attributes{.k = 5};
  fields.field("k", attributes.k, "number of largest outputs", {.minimum = 1});
  return with_output(fields, std::make_unique<TopKOp>("top_k", attributes));
}

template <std::size_t index>
std::unique_ptr<Metric> read_ratio(config::Fields& fields) {
  std::optional<double> threshold;
  declare_threshold(fields, threshold);
  return with_output(fields, std::make_unique<ClassMetricOp>(kRatios[index].name, threshold));
}

template <Measure measure>
std::unique_ptr<Metric> read_regression(config::Fields& fields) {
  return with_output(fields, std::make_unique<RegressionMetricOp>(measure));
}

template <std::size_t... indices>
auto list_metrics(std::index_sequence<indices...>) {
  using Entry = config::Kind<Metric>;
  return std::array{
      Entry{"accuracy", "fraction of samples whose largest output is the label's", &read_accuracy},
      Entry{"top_k", "fraction of samples whose label is among the k largest outputs", &read_top_k},
      Entry{kRatios[indices].name, kRatios[indices].help, &read_ratio<indices>}...,
      Entry{"perplexity", "e^(the mean cross-entropy): 1 if the label is certain",
            [](config::Fields& fields) {
              return with_output(fields, std::make_unique<LikelihoodOp>("perplexity"));
            }},
      Entry{"bits_per_character", "the mean cross-entropy in bits",
            [](config::Fields& fields) {
              return with_output(fields, std::make_unique<LikelihoodOp>("bits_per_character"));
            }},
      Entry{"auc",
            "area under the receiver operating characteristic, of the last layer on the validation "
            "split; of several classes the mean, each against the others",
            [](config::Fields&) -> std::unique_ptr<Metric> {
              return std::make_unique<SplitMetric>("auc", false);
            }},
      Entry{"mean_average_precision",
            "area under the precision-recall steps of the last layer on the validation split, the "
            "mean over classes; several labels at once if the loss has such a target",
            [](config::Fields&) -> std::unique_ptr<Metric> {
              return std::make_unique<SplitMetric>("mean_average_precision", true);
            }},
      Entry{"mae", "mean absolute difference from the loss's target",
            &read_regression<Measure::mae>},
      Entry{"rmse", "root of the mean squared difference from the loss's target",
            &read_regression<Measure::rmse>},
      Entry{"r2",
            "explained part of the variance of the loss's target: 1 - squared error / variance",
            &read_regression<Measure::r2>}};
}

}  // namespace

std::span<const config::Kind<Metric>> metric_kinds() {
  static const auto kinds = list_metrics(std::make_index_sequence<kRatios.size()>{});
  return kinds;
}

}  // namespace trainyard
