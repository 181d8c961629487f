// Losses on an output of the network: a loss and a gradient per sample.
//
// Inputs: values [n, classes] (logits if the loss includes an activation); a target; perhaps
// weights. The target is i32 [n], a class: with one output the target is the label itself, 0 or 1,
// else 1 for the label's class and 0 for the others; or i32 [n, 2], two classes, whose shares of
// the target are as their weights [n, 2]; or f32 [n, classes], a number for each output. Weights
// are f32 [n] and multiply a sample's loss; a sample of weight 0 gives zero by selection.
//
// Of a sequence of values [n, classes, 1, t] each position is a row as a sample's is otherwise:
// labels are i32 [n, t], weights f32 [n, t]. Without weights a position's loss is divided by t, so
// that a sample's is the mean over its positions.
//
// Output: the loss of each row, [n] or [n * t], in the arithmetic type. Backward gives the gradient
// of the sum of dy * losses, where the root of a graph, whose gradient dy does not arrive, takes
// StepState::gradient_scale. Samples from StepState::valid on (padding) give zero by selection,
// whatever they contain. A label that is not a class gives NaN.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ops/functor_step.h"
#include "ops/loss_functions.h"
#include "ops/op.h"
#include "ops/step_tensors.h"
#include "ops/top_k.h"

namespace trainyard {

struct LossAttributes {
  double label_smoothing = 0;    // in [0, 1); of losses that smooth
  std::string output;            // of the network, by name; "": its last layer
  std::string target = "label";  // field of the data that it is compared with
  double weight = 1;             // of the loss in the sum of a network's losses
};

/// A loss of any kind.
class AnyLoss : public Op {
 public:
  explicit AnyLoss(LossAttributes attributes) : attributes_(std::move(attributes)) {}
  [[nodiscard]] const LossAttributes& values() const { return attributes_; }
  [[nodiscard]] int arity() const override { return -1; }

 private:
  LossAttributes attributes_;
};

/// The rows of a batch, n samples or positions, with their targets. Pointers are device memory.
template <class T>
struct LossRows {
  using A = Arithmetic<T>;
  const T* x;  // [n, classes]
  std::int64_t classes;
  A smoothing;
  const float* dense = nullptr;          // [n, classes]
  const std::int32_t* labels = nullptr;  // or [n, each]
  std::int64_t each = 1;                 // labels and weights of a sample, 1 or 2
  const float* weights = nullptr;        // [n, each]; null: 1
  std::int64_t positions = 1;            // rows of a sample
  const StepState* state = nullptr;

  [[nodiscard]] TY_HD bool counts(std::int64_t n) const {
    return n < state->valid * positions && (weights == nullptr || weight(n) != 0);
  }
  /// What a row's loss is multiplied by.
  [[nodiscard]] TY_HD A factor(std::int64_t n) const {
    return weights != nullptr ? weight(n) : A(1) / static_cast<A>(positions);
  }
  [[nodiscard]] TY_HD A weight(std::int64_t n) const {
    const float* const own = weights + n * each;
    return each == 1 ? A(own[0]) : A(own[0]) + A(own[1]);
  }
  [[nodiscard]] TY_HD LossRow<T> row(std::int64_t n) const {
    LossRow<T> row{x + n * classes, classes, smoothing};
    if (dense != nullptr) {
      row.dense = dense + n * classes;
      return row;
    }
    row.label = labels[n * each];
    if (each == 1) return row;
    row.second = labels[n * each + 1];
    row.share = A(weights[n * each + 1]) / weight(n);
    return row;
  }
};

/// Forward: a row is a sample or a position.
template <class Loss, class T>
struct LossValues {
  LossRows<T> rows;
  Arithmetic<T>* losses;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    A loss = A(0);
    if (rows.counts(n)) {
      const LossRow<T> row = rows.row(n);
      loss = row.has_target() ? Loss{}.value(team, row) : math::kNotANumber<A>;
      loss *= rows.factor(n);
    }
    team.once([&] { losses[n] = loss; });
  }
};

/// Backward: a row is a sample or a position. dx may be x.
template <class Loss, class T>
struct LossGradients {
  LossRows<T> rows;
  const Arithmetic<T>* dy;  // [n]; null: the state's gradient scale
  T* dx;                    // [n, classes]
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    using A = Arithmetic<T>;
    T* const out = dx + n * rows.classes;
    if (!rows.counts(n)) return team.each(rows.classes, [&](std::int64_t c) { out[c] = T{}; });
    A scale = dy != nullptr ? dy[n] : static_cast<A>(rows.state->gradient_scale);
    scale *= rows.factor(n);
    Loss{}.gradient(team, rows.row(n), scale, out);
  }
};

/// What StepForm::loss computes of a row; the values' gradient comes last, since it may take their
/// place.
template <class Loss, class T>
struct LossHeadRows {
  LossValues<Loss, T> values;
  LossGradients<Loss, T> gradients;
  TopKRows<T> accuracy = {};            // without `right`: none
  T* x = nullptr;                       // [n, classes]
  const Arithmetic<T>* bias = nullptr;  // [classes], which x lacks; null: nothing
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    if (bias != nullptr) {
      T* const own = x + n * values.rows.classes;
      team.each(values.rows.classes, [&](std::int64_t c) {
        own[c] = static_cast<T>(static_cast<Arithmetic<T>>(own[c]) + bias[c]);
      });
    }
    if (accuracy.right != nullptr) accuracy(team, n);
    values(team, n);
    gradients(team, n);
  }
};

/// [[n, classes], target, weights?] to [n], or [[n, classes, 1, t], labels [n, t], weights?] to
/// [n * t].
template <class Loss>
class LossOp final : public AnyLoss {
 public:
  static constexpr bool kElementwise = false;

  explicit LossOp(LossAttributes attributes) : AnyLoss(std::move(attributes)) {}

  [[nodiscard]] std::string_view type() const override { return Loss::kName; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .arithmetic_outputs = true,
            .can = {Can::merge_launches},
            .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const LossRows<T> rows = rows_of<T>(step, tensors);
    const std::int64_t count = tensors.inputs[0].layout.extent[0] * rows.positions;
    if (step.form.loss) {
      launcher.rows(count, head_of<T>(step, tensors, rows));
    } else if (step.backward()) {
      const A* const dy =
          tensors.output_gradients.empty() ? nullptr : tensors.output_gradients[0].as<const A>();
      launcher.rows(count, LossGradients<Loss, T>{rows, dy, tensors.input_gradients[0].as<T>()});
    } else {
      launcher.rows(count, LossValues<Loss, T>{rows, tensors.outputs[0].as<A>()});
    }
  }

 private:
  template <class T>
  [[nodiscard]] LossHeadRows<Loss, T> head_of(const FunctorStep& step, const StepTensors& tensors,
                                              const LossRows<T>& rows) const {
    using A = Arithmetic<T>;
    LossHeadRows<Loss, T> head{.values = {rows, tensors.outputs[0].as<A>()},
                               .gradients = {rows, nullptr, tensors.input_gradients[0].as<T>()}};
    if (const TopKOp* const accuracy = step.form.accuracy) {
      head.accuracy = accuracy->rows_of<T>(tensors, tensors.inputs.back(), tensors.outputs[1]);
    }
    if (step.form.adds_layer_bias()) {
      head.x = tensors.inputs[0].as<T>();
      head.bias = tensors.parameters[0].as<const A>();
    }
    return head;
  }
  template <class T>
  [[nodiscard]] LossRows<T> rows_of(const FunctorStep& step, const StepTensors& tensors) const {
    const TensorView &outputs = tensors.inputs[0], &target = tensors.inputs[1];
    LossRows<T> rows{outputs.as<T>(), outputs.layout.extent[1],
                     static_cast<Arithmetic<T>>(values().label_smoothing)};
    if (target.type == DType::f32) {
      rows.dense = target.as<const float>();
    } else {
      rows.labels = target.as<const std::int32_t>();
      rows.each = outputs.layout.rank == 4 ? 1 : target.layout.extent[1];
    }
    rows.positions = outputs.layout.extent[3];
    if (step.inputs.size() == 3) rows.weights = tensors.inputs[2].as<const float>();
    rows.state = tensors.batch.state;
    return rows;
  }
};

template <class Functions>
struct LossOpsOf;
template <class... Functions>
struct LossOpsOf<std::tuple<Functions...>> {
  using Types = std::tuple<LossOp<Functions>...>;
};

using CrossEntropyOp = LossOp<CrossEntropy>;
using BinaryCrossEntropyOp = LossOp<BinaryCrossEntropy>;
using MeanSquaredErrorOp = LossOp<MeanSquaredError>;

/// The column of metrics.csv of one of several losses: "output_loss", "aux_loss".
[[nodiscard]] std::string column_of(const AnyLoss& loss);

/// The shape of one result per row of a metric: [n] of values [n, classes] with labels [n], or
/// [n * t] of values [n, classes, 1, t] with labels [n, t]. Throws ShapeError for other shapes and
/// for fewer than `least_classes`.
[[nodiscard]] Signature infer_per_row(std::string_view op, std::span<const Shape> inputs,
                                      std::int64_t least_classes);
/// The same for a loss, whose target of values [n, classes] may also be [n, classes], or [n, 2]
/// with weights [n, 2].
[[nodiscard]] Signature infer_loss(std::string_view op, std::span<const Shape> inputs,
                                   std::int64_t least_classes);
[[nodiscard]] std::string text_of(const LossAttributes& loss);
void declare_smoothing(config::Fields& fields, LossAttributes& loss);
void declare(config::Fields& fields, LossAttributes& loss);

template <class Loss>
Signature LossOp<Loss>::infer(std::span<const Shape> inputs) const {
  return infer_loss(Loss::kName, inputs, Loss::kLeastClasses);
}

template <class Loss>
std::string LossOp<Loss>::attributes() const {
  return Loss::kSmooths ? text_of(values()) : "{}";
}

/// The YAML name, help and reader of a loss.
template <class Loss>
[[nodiscard]] config::Kind<AnyLoss> loss_kind() {
  return {Loss::kName, Loss::kHelp, [](config::Fields& fields) -> std::unique_ptr<AnyLoss> {
            LossAttributes attributes;
            if constexpr (Loss::kSmooths) declare_smoothing(fields, attributes);
            declare(fields, attributes);
            return std::make_unique<LossOp<Loss>>(attributes);
          }};
}

}  // namespace trainyard
