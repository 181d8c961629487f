#include "ops/metric.h"

#include "base/text.h"

namespace trainyard {

std::string column_of(const Metric& metric) {
  return metric.output.empty() ? metric.column() : metric.output + "_" + metric.column();
}

void declare_output(config::Fields& fields, Metric& metric) {
  fields.field("output", metric.output,
               "output of the network that it measures; left out: the last layer");
}

std::string threshold_text(const std::optional<double>& threshold) {
  return "{threshold: " + number_text(threshold.value_or(0)) + "}";
}

void declare_threshold(config::Fields& fields, std::optional<double>& threshold) {
  fields.field("threshold", threshold,
               "a single output above it predicts 1; default: 0 if the loss reads logits "
               "(binary_cross_entropy), else 0.5, between the labels 0 and 1");
}

}  // namespace trainyard
