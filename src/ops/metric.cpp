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

constexpr std::array<ClassRatio, 6> kRatios{{
    {"precision",
     "samples predicted as a class that have its label, as a fraction: of class 1 of a single "
     "output, else the mean over classes",
     &precision},
    {"recall",
     "samples with a class's label that are predicted as it, as a fraction: of class 1 of a single "
     "output, else the mean over classes",
     &recall},
    {"f1",
     "harmonic mean of a class's precision and recall: of class 1 of a single output, else the "
     "mean over classes",
     &f1},
    {"macro_precision", "precision: the mean over classes", &precision, true},
    {"macro_recall", "recall: the mean over classes", &recall, true},
    {"macro_f1", "f1: the mean over classes", &f1, true},
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

ClassCounts counts_of_class(std::span<const double> sums, std::int64_t index) {
  const std::size_t classes = sums.size() / 3, at = static_cast<std::size_t>(index);
  return {.right = sums[at], .predicted = sums[classes + at], .labelled = sums[2 * classes + at]};
}

double mean_over_classes(std::span<const double> sums, double (*ratio)(const ClassCounts&)) {
  const auto classes = static_cast<std::int64_t>(sums.size() / 3);
  double total = 0;
  std::int64_t present = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const ClassCounts counts = counts_of_class(sums, c);
    if (counts.predicted + counts.labelled == 0) continue;
    total += ratio(counts);
    ++present;
  }
  return present > 0 ? total / static_cast<double>(present) : 0;
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
  return mean_over_classes(sums, ratio_->of);
}

std::shared_ptr<const Metric> ClassMetricOp::with_threshold(double threshold) const {
  if (threshold_) return nullptr;
  const auto metric = std::make_shared<ClassMetricOp>(type(), threshold);
  metric->output = output;
  return metric;
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
              return std::make_unique<AucMetric>();
            }}};
}

}  // namespace

std::span<const config::Kind<Metric>> metric_kinds() {
  static const auto kinds = list_metrics(std::make_index_sequence<kRatios.size()>{});
  return kinds;
}

}  // namespace trainyard
