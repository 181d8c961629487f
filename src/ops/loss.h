// Losses on an output of the network: a loss and a gradient per sample.
//
// Inputs: values [n, classes] (logits if the loss includes an activation); a target; perhaps
// weights; perhaps mixed targets. The target is i32 [n], a class: with one output the target is the
// label itself, 0 or 1, else 1 for the label's class and 0 for the others; or f32 [n, classes], a
// number for each output. Weights are f32 [n] and multiply a sample's loss; a sample of weight 0
// gives zero by selection. Mixed targets, f32 [n, 2], go with classes: another class, or -1, and
// its share s of the target, in [0, 1], which is (1 - s) times the label's plus s times the
// other's.
//
// Each position of a sequence of values [n, classes, 1, t] is a row, as a sample is otherwise:
// labels are i32 [n, t], weights f32 [n, t]. Without weights a position's loss is divided by t, so
// that a sample's is the mean over its positions.
//
// Output: the loss of each row, [n] or [n * t], in the arithmetic type. Backward gives the gradient
// of the sum of dy * losses, where the root of a graph, whose gradient dy does not arrive, takes
// StepState::gradient_scale. Samples from StepState::valid on (padding) give zero by selection,
// whatever they contain. A label that is not a class gives NaN.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace trainyard {

/// What the kinds of losses differ in.
struct LossKind {
  std::string_view name, help;
  bool smooths = false;            // has label_smoothing
  std::int64_t least_classes = 1;  // least number of outputs
};
/// Losses that include an activation: a softmax and a sigmoid.
inline constexpr std::string_view kCrossEntropy = "cross_entropy";
inline constexpr std::string_view kBinaryCrossEntropy = "binary_cross_entropy";
/// Every loss, in the order of the reference.
[[nodiscard]] std::span<const LossKind> loss_list();

struct LossAttributes {
  double label_smoothing = 0;    // in [0, 1); of losses that smooth
  std::string output;            // output of the network, by name; "": its last layer
  std::string target = "label";  // field of the data that it is compared with
  double weight = 1;             // factor of the loss in the sum of a network's losses
};

/// [[n, classes], target, weights?, mixed targets?] to [n], or [[n, classes, 1, t], labels [n, t],
/// weights?] to [n * t].
class LossOp final : public Op {
 public:
  /// `type` is a name of loss_list().
  LossOp(std::string_view type, LossAttributes attributes);
  [[nodiscard]] const LossAttributes& values() const { return attributes_; }

  [[nodiscard]] std::string_view type() const override { return kind_->name; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .arithmetic_outputs = true,
            .can = {Can::merge_launches},
            .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;

 private:
  const LossKind* kind_;
  LossAttributes attributes_;
};

/// The column of metrics.csv of one of several losses: "output_loss", "aux_loss".
[[nodiscard]] std::string column_of(const LossOp& loss);
/// The YAML names, helps and readers of all losses.
[[nodiscard]] std::span<const config::Kind<LossOp>> loss_kinds();

/// The shape of one result per row of a metric: [n] of values [n, classes] with labels [n], or
/// [n * t] of values [n, classes, 1, t] with labels [n, t]. Throws ShapeError for other shapes and
/// for fewer than `least_classes`.
[[nodiscard]] Signature infer_per_row(std::string_view op, std::span<const Shape> inputs,
                                      std::int64_t least_classes);

/// The same of what compares [n, classes] with a loss's target: labels as above, or numbers [n,
/// classes].
[[nodiscard]] Signature infer_per_target(std::string_view op, std::span<const Shape> inputs);

/// Losses that a sum can have.
inline constexpr std::size_t kMostLosses = 8;

/// Losses per row [n] to their weighted sum [n]. Backward starts here.
class LossSumOp final : public Op {
 public:
  /// At most kMostLosses weights, one for each loss.
  explicit LossSumOp(std::vector<double> weights);
  [[nodiscard]] std::span<const double> weights() const { return weights_; }
  [[nodiscard]] std::string_view type() const override { return "loss_sum"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.arithmetic_outputs = true, .layouts = Contract::Layouts::plain};
  }
  /// "{weights: [1, 0.3]}".
  [[nodiscard]] std::string attributes() const override;

 private:
  std::vector<double> weights_;
};

}  // namespace trainyard
