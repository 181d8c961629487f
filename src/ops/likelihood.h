// Metrics of how probable the labels are: perplexity and bits per character.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <string_view>

#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard {

/// -log p of the label's class, with p = softmax(x): the cross-entropy without smoothing. A row is
/// a sample or a position.
template <class T>
struct LikelihoodRows {
  LossRows<T> rows;
  Arithmetic<T>* values;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    A value = A(0);
    if (rows.counts(n)) {
      const LossRow<T> row = rows.row(n);
      value = row.has_target() ? CrossEntropy{}.value(team, row) : math::kNotANumber<A>;
    }
    team.once([&] { values[n] = value; });
  }
};

/// e^(the mean cross-entropy).
struct Perplexity {
  static constexpr std::string_view kName = "perplexity",
                                    kHelp = "e^(the mean cross-entropy): 1 if the label is certain";
  [[nodiscard]] static double of(double mean) { return std::exp(mean); }
};

/// The mean cross-entropy in bits.
struct BitsPerCharacter {
  static constexpr std::string_view kName = "bits_per_character",
                                    kHelp = "the mean cross-entropy in bits";
  [[nodiscard]] static double of(double mean) { return mean / std::numbers::ln2; }
};

/// [[n, classes], labels i32 [n]] to [n], or [[n, classes, 1, t], labels [n, t]] to [n * t]; values
/// are logits.
template <class Measure>
class LikelihoodOp final : public Metric {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] std::string_view type() const override { return Measure::kName; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    return infer_per_row(Measure::kName, inputs, CrossEntropy::kLeastClasses);
  }
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] double finish(std::span<const double> sums, std::int64_t rows) const override {
    return Measure::of(sums[0] / static_cast<double>(rows));
  }
  [[nodiscard]] std::shared_ptr<const Metric> with_threshold(double) const override {
    return nullptr;
  }
  [[nodiscard]] bool reads_logits() const override { return true; }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // metrics have no gradient, and none is requested
    const TensorView& values = tensors.inputs[0];
    const LossRows<T> rows{.x = values.as<T>(),
                           .classes = values.layout.extent[1],
                           .smoothing = 0,
                           .labels = tensors.inputs[1].as<const std::int32_t>(),
                           .positions = values.layout.extent[3],
                           .state = tensors.batch.state};
    launcher.rows(values.layout.extent[0] * rows.positions,
                  LikelihoodRows<T>{rows, tensors.outputs[0].as<Arithmetic<T>>()});
  }
};

using PerplexityOp = LikelihoodOp<Perplexity>;
using BitsPerCharacterOp = LikelihoodOp<BitsPerCharacter>;

/// The YAML name, help and reader of such a metric.
template <class Measure>
[[nodiscard]] config::Kind<Metric> likelihood_kind() {
  return {Measure::kName, Measure::kHelp, [](config::Fields& fields) -> std::unique_ptr<Metric> {
            auto metric = std::make_unique<LikelihoodOp<Measure>>();
            declare_output(fields, *metric);
            return metric;
          }};
}

}  // namespace trainyard
