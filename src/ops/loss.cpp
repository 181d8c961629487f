#include "ops/loss.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

Signature infer_per_sample(std::string_view op, std::span<const Shape> inputs,
                           std::int64_t least_classes) {
  const Shape& values = inputs[0];
  if (values.rank() != 2) {
    throw ShapeError(fmt::format(
        "{} needs features [n, classes], found {}; end the network with dense, flatten or a global "
        "pool",
        op, values.text()));
  }
  if (values.c() < least_classes) {
    throw ShapeError(
        fmt::format("{} needs at least {} classes, found {}; binary_cross_entropy "
                    "takes one",
                    op, least_classes, values.c()));
  }
  TY_CHECK(inputs.size() == 2, "losses and metrics have two inputs");
  if (inputs[1] != Shape{values.n()}) {
    throw ShapeError(
        fmt::format("{} needs labels [{}], found {}", op, values.n(), inputs[1].text()));
  }
  Signature signature;
  signature.outputs = {Shape{values.n()}};
  return signature;
}

std::string text_of(const LossAttributes& loss) {
  return "{label_smoothing: " + number_text(loss.label_smoothing) + "}";
}

void declare(config::Fields& fields, LossAttributes& loss) {
  fields.field("label_smoothing", loss.label_smoothing,
               "weight of the uniform distribution in the target, below 1", {.minimum = 0});
  if (loss.label_smoothing >= 1) {
    fields.error("label_smoothing",
                 "'label_smoothing' must be below 1, found " + number_text(loss.label_smoothing));
    loss.label_smoothing = 0;
  }
}

}  // namespace trainyard
