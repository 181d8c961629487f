#include "ops/loss.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

namespace {

bool is_sequence(const Shape& values) { return values.rank() == 4 && values.h() == 1; }

/// [n], or of a sequence [n, t].
Shape labels_of(const Shape& values) {
  return is_sequence(values) ? Shape{values.n(), values.w()} : Shape{values.n()};
}

void check_values(std::string_view op, const Shape& values, std::int64_t least_classes) {
  if (values.rank() != 2 && !is_sequence(values)) {
    throw ShapeError(fmt::format(
        "{} needs features [n, classes] or a sequence [n, classes, 1, t], found {}; end the "
        "network with dense, flatten or a global pool",
        op, values.text()));
  }
  if (values.c() < least_classes) {
    throw ShapeError(
        fmt::format("{} needs at least {} classes, found {}; binary_cross_entropy "
                    "takes one",
                    op, least_classes, values.c()));
  }
}

Signature per_row(const Shape& labels) {
  Signature signature;
  signature.outputs = {Shape{labels.elements()}};
  return signature;
}

}  // namespace

Signature infer_per_row(std::string_view op, std::span<const Shape> inputs,
                        std::int64_t least_classes) {
  check_values(op, inputs[0], least_classes);
  TY_CHECK(inputs.size() == 2, "metrics have two inputs");
  const Shape labels = labels_of(inputs[0]);
  if (inputs[1] != labels) {
    throw ShapeError(
        fmt::format("{} needs labels {}, found {}", op, labels.text(), inputs[1].text()));
  }
  return per_row(labels);
}

Signature infer_loss(std::string_view op, std::span<const Shape> inputs,
                     std::int64_t least_classes) {
  const Shape& values = inputs[0];
  check_values(op, values, least_classes);
  TY_CHECK(inputs.size() == 2 || inputs.size() == 3, "losses have two or three inputs");
  const Shape labels = labels_of(values), pairs{values.n(), 2};
  const bool sequence = is_sequence(values), weighted = inputs.size() == 3;
  const bool has_pairs = !sequence && weighted && inputs[1] == pairs && inputs[2] == pairs;
  const bool dense = !sequence && inputs[1] == values;
  if (!has_pairs && inputs[1] != labels && !dense) {
    const std::string wanted = sequence ? "" : " or targets " + values.text();
    throw ShapeError(
        fmt::format("{} needs labels {}{}, found {}", op, labels.text(), wanted, inputs[1].text()));
  }
  if (weighted && !has_pairs && inputs[2] != labels) {
    throw ShapeError(
        fmt::format("{} needs weights {}, found {}", op, labels.text(), inputs[2].text()));
  }
  return per_row(labels);
}

std::string column_of(const AnyLoss& loss) {
  const std::string& output = loss.values().output;
  return (output.empty() ? "output" : output) + "_loss";
}

std::string text_of(const LossAttributes& loss) {
  return "{label_smoothing: " + number_text(loss.label_smoothing) + "}";
}

void declare(config::Fields& fields, LossAttributes& loss) {
  fields.field("output", loss.output,
               "output of the network that it is computed on; left out: the last layer");
  fields.field("target", loss.target, "field of the data that the output is compared with");
  fields.field("weight", loss.weight, "factor in the sum of all losses", {.minimum = 0});
}

void declare_smoothing(config::Fields& fields, LossAttributes& loss) {
  fields.field("label_smoothing", loss.label_smoothing,
               "weight of the uniform distribution in the target, below 1", {.minimum = 0});
  if (loss.label_smoothing >= 1) {
    fields.error("label_smoothing",
                 "'label_smoothing' must be below 1, found " + number_text(loss.label_smoothing));
    loss.label_smoothing = 0;
  }
}

}  // namespace trainyard
