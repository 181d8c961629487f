// Fusions of the plan as data: what ops and devices can do, and what that makes of a step.
//
// A fusion is an entry of Can and what it changes about a step, in StepForm. A pass of the plan
// (plan/passes.h) sets it and executors read it; what is between carries it whole.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace trainyard {

class TopKOp;

/// What the arithmetic of an op allows (Contract::can) and what the executors of a device do
/// (Target::can). A pass of the plan needs both, but where the entry names one of them.
enum class Can : std::uint8_t {
  fuse,            // target: neighbouring ops are merged (fuse())
  write_slices,    // output 0 and its gradient may be channels of a wider map (a concatenation), in
                   // whole blocks
  cancel_biases,   // target: biases that batch norms cancel are left out of training
  take_relu,       // forward does the step of the ReLU behind the layer too
  sum_bias,        // target: the backward step of that ReLU writes the gradient of the layer's bias
  leave_bias,      // op: a later step may add the bias
  merge_launches,  // op: the backward step of a loss computes its value too; target: small launches
                   // of a step are merged, those of the batch and of the optimizer step too
  add_gradient,    // backward_data adds to its one input gradient, which an earlier step wrote
  recompute,       // outputs are computed again for the backward pass (Pass::recompute), not kept
  join_siblings,   // one launch does this step for several ops of a kind that are ready together
  use_side_queue,  // backward_parameters reads nothing that a later step writes, and overlaps those
};

/// A set of them.
class Cans {
 public:
  constexpr Cans() = default;
  constexpr Cans(std::initializer_list<Can> list) {
    for (const Can can : list) set(can);
  }
  [[nodiscard]] constexpr bool operator()(Can can) const { return (bits_ & bit(can)) != 0; }
  constexpr Cans& set(Can can, bool holds = true) {
    bits_ = holds ? bits_ | bit(can) : bits_ & ~bit(can);
    return *this;
  }

 private:
  static constexpr std::uint32_t bit(Can can) { return 1U << static_cast<unsigned>(can); }

  std::uint32_t bits_ = 0;
};

/// The queue that a step runs on (StepQueues): steps of the two overlap.
enum class StepQueue { main, side };

/// What a step does besides the pass of its op, or leaves to others.
struct StepForm {
  /// Who adds the bias of a layer (forward), or writes the bias's gradient (backward).
  enum class Bias {
    own,       // the step, if its op has a bias
    by_other,  // another step: the ReLU behind the layer, or the loss
    of_other,  // the step, that of the layer before: backward of a ReLU writes its gradient to
               // parameter_gradients[0]; backward of a loss first adds it, parameters[0], to
               // inputs[0]
  };

  /// backward_data: the one input gradient += the step's, rounded once; where a library cannot add,
  /// the step's is rounded before too.
  bool adds_gradient = false;
  bool relu = false;  // forward of a layer with a bias: y = max(y, 0) as Relu has it, rounded once
  Bias bias = Bias::own;
  StepQueue queue = StepQueue::main;
  bool loss = false;  // backward of a loss: the loss of each row too, outputs[0]
  /// With it: its result of each row too, outputs[1], of labels behind the loss's inputs.
  const TopKOp* accuracy = nullptr;

  [[nodiscard]] constexpr bool own_bias() const { return bias == Bias::own; }
  /// Backward of a ReLU, or of a loss: what it does for the layer before.
  [[nodiscard]] constexpr bool sums_layer_bias() const { return bias == Bias::of_other && !loss; }
  [[nodiscard]] constexpr bool adds_layer_bias() const { return bias == Bias::of_other && loss; }
  [[nodiscard]] constexpr bool on_side_queue() const { return queue == StepQueue::side; }
};

}  // namespace trainyard
