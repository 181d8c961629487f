// An op: attributes, shape rule and op traits (Contract). Devices supply executors
// (compute/table.h).
//
// The folder ops says what ops are: their attributes, inference and contracts, those that belong
// together in a file that lists them at its end; and losses, metrics and initializers. The files'
// lists are joined in all.cpp. An op knows no device, no functor and no planner.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "ops/step_form.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace trainyard {

/// A pass of a node. A step of the plan runs one pass of one node. Recompute writes what
/// forward_train wrote once more, bit for bit, from its inputs and its reserve.
enum class Pass { forward_train, forward_eval, recompute, backward_data, backward_parameters };

/// Initial values of weights.
struct Initializer {
  enum class Kind {
    zeros,
    ones,
    constant,
    uniform,
    normal,
    truncated_normal,
    glorot_uniform,
    glorot_normal,
    he_uniform,
    he_normal,
    lecun_uniform,
    lecun_normal,
    msra,
    xavier,
    torch_default,
    orthogonal,
    whitening,  // moments of the training samples
    dirac,
    dirac_partial,
    forget_gate,  // has no word in YAML: the bias of an lstm
  };
  Kind kind = Kind::zeros;
  double value = 0;  // the constant, the bound, the deviation, or epsilon

  bool operator==(const Initializer&) const = default;
};

/// Which weight-decay group a parameter belongs to.
enum class ParameterGroup { kernel, bias, gamma, beta };

/// A trainable tensor of a node, plain row-major (convolutions OIHW, dense [out, in]).
struct ParameterSpec {
  std::string name;  // "weight", "bias", "gamma", "beta"
  Shape shape;
  Initializer initializer;
  ParameterGroup group = ParameterGroup::kernel;
  double l2 = 0;  // Keras's l2: adds l2 * sum(w^2) to the loss, 2 * l2 * w to the gradient
  std::int64_t fan_in = 1;
  std::int64_t fan_out = 1;

  bool operator==(const ParameterSpec&) const = default;
};

/// A running statistic of a node. In training the node writes the batch's value; after the step the
/// running value becomes momentum * running + (1 - momentum) * batch_scale * batch.
struct StatisticSpec {
  std::string name;  // "running_mean", "running_var"
  Shape shape;
  double initial = 0;
  double momentum = 0.99;  // weight of the old value
  double batch_scale = 1;  // n / (n - 1) or similar, if the convention is unbiased
};

/// The result of `infer`.
struct Signature {
  std::vector<Shape> outputs;
  std::vector<ParameterSpec> parameters;
  std::vector<StatisticSpec> statistics;
  std::int64_t multiply_adds = 0;  // work of one forward pass over the whole batch (conv and dense)
  std::int64_t saved_bytes = 0;    // the most that forward_train saves for backward besides values
  std::int64_t workspace_bytes = 0;  // the most that one step needs for itself on any device,
                                     // libraries apart
};

/// Op traits: what the planner must know for gradients, lifetimes and in-place execution.
struct Contract {
  bool backward_reads_inputs = false;
  bool backward_reads_first_input = false;  // and no other
  bool backward_reads_outputs = false;
  bool synced_backward = false;     // backward_data computes the parameters' gradients too
  bool in_place_forward = false;    // output 0 may overwrite input 0, if that appears only once
  bool in_place_backward = false;   // one input gradient may overwrite output gradient 0:
  int in_place_gradient = 0;        // the gradient of this input
  bool alias_forward = false;       // output 0 is input 0, no step needed in either direction
                                    // (identity; flatten if the layouts agree)
  bool alias_gradient = false;      // every input's gradient is the output's gradient (add)
  bool shared_gradient = false;     // backward_data writes one gradient for all inputs
  bool draws = false;               // draws random numbers
  bool eval_is_identity = false;    // forward_eval copies (dropout): aliased by the planner
  bool arithmetic_outputs = false;  // outputs have the arithmetic type, whatever the storage type
                                    // of activations (losses, metrics)
  std::int64_t vocabulary = 0;      // input 0 holds tokens, i32 [n, t], each below it; 0: numbers
  bool masked = false;              // the last input is a mask of steps, i32 [n, t]: where it is 0,
                                    // a step of the sequence is left out
  bool masks_zero = false;          // the tokens are such a mask of the output
  bool keeps_steps = false;         // step p of the output is made of steps p of the inputs (and of
                                    // statistics), so that the mask of these is its mask
  Cans can;                         // fusions that its steps may be part of
  /// Memory layouts: `same` = all inputs and outputs have one layout; `plain` = plain tensors only;
  /// `rows` = maps stored n, h, w, c without padding, on every target (sequences [n, c, 1, t]);
  /// `any` = inputs in any layout, the output in the target's layout (convolution, pooling).
  enum class Layouts { same, plain, rows, any } layouts = Layouts::same;
};

/// The reason why inference failed, without position (the builder adds it).
struct ShapeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Op;
using OpPtr = std::unique_ptr<Op>;

/// The layers of one that reads its input in two ways, and the name of the op that joins what they
/// put out; null and "": the layer is itself.
struct TwoWays {
  OpPtr forwards, backwards;
  std::string_view join;
};

/// An op with its attributes. Immutable.
class Op {
 public:
  virtual ~Op() = default;
  /// The YAML name ("conv").
  [[nodiscard]] virtual std::string_view type() const = 0;
  /// Number of inputs; -1 for one or more.
  [[nodiscard]] virtual int arity() const { return 1; }
  /// Output shapes from input shapes. Throws ShapeError with the reason.
  [[nodiscard]] virtual Signature infer(std::span<const Shape> inputs) const = 0;
  [[nodiscard]] virtual Contract contract() const = 0;
  /// The same op with a mask as its last input (Contract::masked); null: it reads none.
  [[nodiscard]] virtual OpPtr with_mask() const { return nullptr; }
  /// What the graph has in place of the op (bidirectional).
  [[nodiscard]] virtual TwoWays two_ways() const { return {}; }
  /// Forms that fusions give an op; null: it has no such form, or is of it.
  /// y = max(op(x), 0); y = max(op(x) + z, 0), where z is a second input; without its bias.
  [[nodiscard]] virtual OpPtr with_relu() const { return nullptr; }
  [[nodiscard]] virtual OpPtr with_sum_and_relu() const { return nullptr; }
  [[nodiscard]] virtual OpPtr without_bias() const { return nullptr; }
  /// The attributes as YAML flow text ("{filters: 16, kernel: [3, 3], ...}"), for the resolved
  /// config, summaries and the plan hash.
  [[nodiscard]] virtual std::string attributes() const { return "{}"; }
};

/// Every op, in the order of the reference (ops/all.cpp).
[[nodiscard]] std::span<const config::Kind<Op>> op_kinds();

/// The reader of an op with attributes that `declare` reads, and of one without.
template <class OpType, class Attributes>
OpPtr read_op(config::Fields& fields) {
  Attributes attributes;
  declare(fields, attributes);
  return std::make_unique<OpType>(attributes);
}
template <class OpType>
OpPtr read_plain_op(config::Fields& /*fields*/) {
  return std::make_unique<OpType>();
}

}  // namespace trainyard
