#include "ops/metric.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/loss.h"

namespace trainyard {

Signature TopKOp::infer(std::span<const Shape> inputs) const {
  Signature signature = infer_per_sample(type_, inputs, 1);
  if (attributes_.k > 1 && attributes_.k >= inputs[0].c()) {
    throw ShapeError(fmt::format("{} with k = {} is always 1 for {} classes; lower k", type_,
                                 attributes_.k, inputs[0].c()));
  }
  return signature;
}

std::string TopKOp::attributes() const {
  if (type_ == "top_k") return "{k: " + number_text(attributes_.k) + "}";
  return "{threshold: " + number_text(attributes_.threshold.value_or(0)) + "}";
}

config::Kind<Op> accuracy_kind() {
  return {"accuracy", "fraction of samples whose largest output is the label's",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            MetricAttributes attributes;
            fields.field("threshold", attributes.threshold,
                         "a single output above it predicts 1; default: 0 if the loss reads logits "
                         "(binary_cross_entropy), else 0.5, between the labels 0 and 1");
            return std::make_unique<TopKOp>("accuracy", attributes);
          }};
}

config::Kind<Op> top_k_kind() {
  return {"top_k", "fraction of samples whose label is among the k largest outputs",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            MetricAttributes attributes{.k = 5};
            fields.field("k", attributes.k, "number of largest outputs", {.minimum = 1});
            return std::make_unique<TopKOp>("top_k", attributes);
          }};
}

std::shared_ptr<const Op> with_threshold(std::shared_ptr<const Op> metric, double threshold) {
  const auto* const right = dynamic_cast<const TopKOp*>(metric.get());
  if (right == nullptr || right->values().threshold) return metric;
  MetricAttributes attributes = right->values();
  attributes.threshold = threshold;
  return std::make_shared<TopKOp>(right->type(), attributes);
}

}  // namespace trainyard
