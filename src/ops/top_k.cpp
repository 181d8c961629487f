#include "ops/top_k.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/loss.h"

namespace trainyard {

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

config::Kind<Metric> accuracy_kind() {
  return {"accuracy", "fraction of samples whose largest output is the label's",
          [](config::Fields& fields) -> std::unique_ptr<Metric> {
            TopKAttributes attributes;
            declare_threshold(fields, attributes.threshold);
            auto metric = std::make_unique<TopKOp>("accuracy", attributes);
            declare_output(fields, *metric);
            return metric;
          }};
}

config::Kind<Metric> top_k_kind() {
  return {"top_k", "fraction of samples whose label is among the k largest outputs",
          [](config::Fields& fields) -> std::unique_ptr<Metric> {
            TopKAttributes attributes{.k = 5};
            fields.field("k", attributes.k, "number of largest outputs", {.minimum = 1});
            auto metric = std::make_unique<TopKOp>("top_k", attributes);
            declare_output(fields, *metric);
            return metric;
          }};
}

}  // namespace trainyard
