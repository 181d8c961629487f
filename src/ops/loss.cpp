#include "ops/loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr std::array<LossKind, 12> kLosses{{
    {.name = kCrossEntropy, .help = "softmax cross-entropy", .smooths = true, .least_classes = 2},
    {.name = kBinaryCrossEntropy,
     .help = "sigmoid cross-entropy, mean over outputs",
     .smooths = true},
    {.name = "mse", .help = "mean squared error"},
    {.name = "mae", .help = "mean absolute error"},
    {.name = "huber", .help = "squared error up to 1, absolute beyond, halved"},
    {.name = "logcosh", .help = "logarithm of the error's cosh"},
    {.name = "hinge", .help = "hinge loss, with targets 0 and 1 as -1 and 1"},
    {.name = "squared_hinge", .help = "square of hinge"},
    {.name = "categorical_hinge",
     .help = "margin of 1 between the class and the best other",
     .least_classes = 2},
    {.name = "kl", .help = "Kullback-Leibler divergence of probabilities", .least_classes = 2},
    {.name = "poisson", .help = "Poisson loss of outputs that are expected counts"},
    {.name = "cosine", .help = "minus the cosine between outputs and targets", .least_classes = 2},
}};

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

Signature per_row(const Shape& labels) { return {.outputs = {Shape{labels.elements()}}}; }

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

Signature infer_per_target(std::string_view op, std::span<const Shape> inputs) {
  TY_CHECK(inputs.size() == 2, "metrics have two inputs");
  if (inputs[0].rank() != 2 || inputs[1] != inputs[0]) return infer_per_row(op, inputs, 1);
  return per_row(labels_of(inputs[0]));
}

Signature LossOp::infer(std::span<const Shape> inputs) const {
  const std::string_view op = kind_->name;
  const Shape& values = inputs[0];
  check_values(op, values, kind_->least_classes);
  const Shape labels = labels_of(values);
  const bool sequence = is_sequence(values), dense = !sequence && inputs[1] == values;
  const bool mixed = !sequence && inputs.size() > 2 && inputs.back() == Shape{values.n(), 2};
  const bool weighted = inputs.size() == (mixed ? 4 : 3);
  TY_CHECK(weighted || inputs.size() == (mixed ? 3 : 2), "losses have two to four inputs");
  if (inputs[1] != labels && (!dense || mixed)) {
    const std::string wanted = sequence ? "" : " or targets " + values.text();
    throw ShapeError(
        fmt::format("{} needs labels {}{}, found {}", op, labels.text(), wanted, inputs[1].text()));
  }
  if (weighted && inputs[2] != labels) {
    throw ShapeError(
        fmt::format("{} needs weights {}, found {}", op, labels.text(), inputs[2].text()));
  }
  return per_row(labels);
}

std::span<const LossKind> loss_list() { return kLosses; }

LossOp::LossOp(std::string_view type, LossAttributes attributes)
    : kind_(std::ranges::find(kLosses, type, &LossKind::name)), attributes_(std::move(attributes)) {
  TY_CHECK(kind_ != kLosses.end(), type);
}

std::string LossOp::attributes() const {
  if (!kind_->smooths) return "{}";
  return "{label_smoothing: " + number_text(attributes_.label_smoothing) + "}";
}

std::string column_of(const LossOp& loss) {
  const std::string& output = loss.values().output;
  return (output.empty() ? "output" : output) + "_loss";
}

namespace {

void declare_smoothing(config::Fields& fields, LossAttributes& loss) {
  fields.field("label_smoothing", loss.label_smoothing,
               "weight of the uniform distribution in the target, below 1", {.minimum = 0});
  if (loss.label_smoothing < 1) return;
  fields.error("label_smoothing",
               "'label_smoothing' must be below 1, found " + number_text(loss.label_smoothing));
  loss.label_smoothing = 0;
}

std::unique_ptr<LossOp> read_loss(const LossKind& kind, config::Fields& fields) {
  LossAttributes loss;
  if (kind.smooths) declare_smoothing(fields, loss);
  fields.field("output", loss.output,
               "output of the network that it is computed on; left out: the last layer");
  fields.field("target", loss.target, "field of the data that the output is compared with");
  fields.field("weight", loss.weight, "factor in the sum of all losses", {.minimum = 0});
  return std::make_unique<LossOp>(kind.name, loss);
}

template <std::size_t... indices>
auto list_losses(std::index_sequence<indices...>) {
  return std::array{config::Kind<LossOp>{
      kLosses[indices].name, kLosses[indices].help,
      [](config::Fields& fields) { return read_loss(kLosses[indices], fields); }}...};
}

}  // namespace

std::span<const config::Kind<LossOp>> loss_kinds() {
  static const auto kinds = list_losses(std::make_index_sequence<kLosses.size()>{});
  return kinds;
}

LossSumOp::LossSumOp(std::vector<double> weights) : weights_(std::move(weights)) {
  TY_CHECK(!weights_.empty() && weights_.size() <= kMostLosses, "a sum of 1 to 8 losses");
}

Signature LossSumOp::infer(std::span<const Shape> inputs) const {
  TY_CHECK(inputs.size() == weights_.size(), "one weight for each loss");
  for (const Shape& losses : inputs) {
    if (losses == inputs[0]) continue;
    throw ShapeError("the losses of a network are all of samples, or all of positions: found " +
                     inputs[0].text() + " and " + losses.text() + " in a batch");
  }
  return {.outputs = {inputs[0]}};
}

std::string LossSumOp::attributes() const {
  std::string text;
  for (const double weight : weights_) text += (text.empty() ? "" : ", ") + number_text(weight);
  return "{weights: [" + text + "]}";
}

}  // namespace trainyard
