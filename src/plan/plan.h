// A plan: the steps of a program and the tensors that they read and write, as plain data.
//
// The folder plan turns a graph into steps with memory: pure functions from data to data, and the
// program that binds executors to the result. It trains nothing and needs no device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/copy/packed_parameters.h"
#include "compute/executor.h"
#include "plan/biases.h"
#include "plan/blocks.h"
#include "plan/layouts.h"
#include "plan/target.h"

namespace trainyard {

using TensorId = std::int32_t;
inline constexpr TensorId kNoTensor = -1;

/// The bias of a convolution or a dense layer, by the index of the parameter.
inline constexpr std::size_t kBias = 1;

/// A parameter of a node.
struct ParameterId {
  NodeId node = -1;
  std::size_t index = 0;
};

/// A tensor of a plan: a value, a gradient, a reserve or a workspace.
struct PlanTensor {
  std::string name;
  Layout layout;
  DType type = DType::f32;
  std::size_t bytes = 0;
  TensorId alias_of = kNoTensor;  // shares the bytes of another tensor
  std::size_t alias_offset = 0;   // starting at this byte of it
  bool input = false;             // written by the host before the first step: in the input arena
  bool kept = false;              // read after the last step
  std::optional<ParameterId> gradient_of;  // is in the gradient block, at this parameter's entry
  std::optional<WeightShape> packed;       // a packed gradient
  std::size_t offset = 0;                  // in its arena, set by plan_memory
};

/// One step: a pass of a node, a reorder, a sum of gradients, or the unpacking of gradients.
struct PlanStep {
  enum class Kind { op, reorder, accumulate, unpack };
  Kind kind = Kind::op;
  Pass pass = Pass::forward_train;
  NodeId node = -1;
  // In the order of the op's signature; kNoTensor for what the step does not read or write. A
  // reorder copies inputs[0] to outputs[0], an accumulation adds inputs[0] to outputs[0], and each
  // packed inputs[i] is unpacked to outputs[i].
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<TensorId> output_gradients;
  std::vector<TensorId> input_gradients;
  // Where the parameters' gradients go if not all to the gradient block: empty, or one per
  // parameter.
  std::vector<TensorId> parameter_gradients;
  std::vector<PackedParameter> packed_parameters;  // read in the packed block
  // Gradients that are written packed, by parameter (kNoTensor: plain), or empty: all plain.
  std::vector<TensorId> packed_gradients;
  bool adds_gradient = false;  // adds to its one input gradient, which an earlier step wrote
  bool relu = false;           // forward: takes the step of the ReLU behind its layer along
  bool sums_bias = false;    // backward of that ReLU: writes the gradient of the layer's bias too,
  bool bias_summed = false;  // and the layer's own step does not
  LossHead head;             // backward of the loss: what it takes along
  NodeId bias_of = -1;       // the layer whose bias the head adds,
  bool bias_later = false;   // and that layer does not
  bool beside = false;       // runs on the queue beside that of the other steps
  bool sibling = false;      // runs in the launches of the step before it (join_siblings())
  // Begins when this earlier step, one that runs beside, is done; -1: waits for none.
  std::int32_t awaits = -1;
  TensorId reserve = kNoTensor;
  TensorId workspace = kNoTensor;
};

struct Plan {
  LaidOutGraph laid_out;
  Target target;
  std::vector<CancelledBias> cancelled_biases;
  std::vector<PlanTensor> tensors;
  std::vector<PlanStep> steps;
  std::vector<TensorId> values;  // ValueId to the tensor that holds it (kNoTensor: not computed)
  std::size_t transient_bytes = 0;
  std::size_t input_bytes = 0;

  /// The tensor that owns the bytes of `id`.
  [[nodiscard]] TensorId root(TensorId id) const;
  /// True if a step reads or writes bytes of the tensor that owns those of `id` (tensors_of()).
  [[nodiscard]] bool touches(const PlanStep& step, TensorId id) const;
};

/// What a plan must compute.
struct PlanRequest {
  bool train = true;          // forward_train and backward, or forward_eval alone
  ValueId loss = -1;          // per-sample losses; backward starts here
  std::vector<ValueId> kept;  // values read after the last step (ids of the graph before layout)
};

/// Steps and tensors of a graph on a target: assigns layouts, takes away biases that batch norms
/// cancel, orders the passes, derives the gradients from the op traits. complete() plans the memory
/// once executors have stated their needs.
[[nodiscard]] Plan make_plan(const Graph& graph, const Target& target, const PlanRequest& request);

/// What the executor of a step is built from; the device's part is left out.
[[nodiscard]] StepDescription description_of(const Plan& plan, const PlanStep& step);

/// The index of the first step of the backward pass, whose recomputed outputs belong to it; without
/// one the number of steps.
[[nodiscard]] std::size_t backward_begin(const Plan& plan);

/// The step of a node's pass; the end if there is none.
[[nodiscard]] std::vector<PlanStep>::iterator op_step(Plan& plan, NodeId node, Pass pass);

/// A tensor of a parameter's gradient, plain.
[[nodiscard]] PlanTensor gradient_tensor(const Plan& plan, const ParameterSpec& parameter,
                                         const std::string& path);

/// What the executor of a step needs besides its tensors, in bytes.
struct StepNeeds {
  std::size_t workspace = 0;  // of this step alone
  std::size_t reserve = 0;    // from forward_train to the node's backward steps
};

/// Gives the steps what they need (one entry per step), merges in place and assigns every tensor
/// its offset. Executors must respect the target's workspace cap (StepDescription::workspace_cap).
void complete(Plan& plan, std::span<const StepNeeds> needs);

/// Upper bounds on the steps' needs for a target whose device is not available: for ops with
/// parameters or statistics (products and sums over a batch; the others need none) the target's
/// cap, and what the op saves for backward.
[[nodiscard]] std::vector<StepNeeds> largest_needs(const Plan& plan);

/// Joins the forward step of a network's only loss, that of an accuracy of the same values and the
/// bias before them with the loss's backward step (Target::merges_launches). Part of make_plan().
void join_loss(Plan& plan, NodeId loss);

/// Removes accumulations: where the later of two gradients is of a step that can add, and nothing
/// else reads the earlier one any more, the step adds to that. Part of make_plan().
void fold_accumulations(Plan& plan);

/// Removes forward steps of ReLUs: where a convolution or dense layer with a bias writes what a
/// ReLU alone reads, in the layout that this writes, the layer's step does both
/// (Target::absorbs_relu). The gradient of the bias moves to the ReLU's backward step
/// (Target::relu_sums_bias), which reads and writes all that is summed anyway. Part of make_plan().
void absorb_relus(Plan& plan);

/// Inserts steps that recompute outputs before the backward pass first reads them, so that their
/// memory is free in between: where the op traits and the target allow it, all of the tensor can be
/// recomputed, and what that reads is kept for later steps anyway. Part of make_plan().
void recompute_outputs(Plan& plan);

/// Moves steps of batch norms that are branches of one concatenation next to each other, so that
/// one launch does the work of several (PlanStep::sibling), if the target does that: where the
/// later one may pass the steps between, or else the earlier ones may: those neither write what it
/// reads or writes nor read what it writes. The other steps keep their order. To be called once no
/// more steps are inserted, before run_beside().
void join_siblings(Plan& plan);

/// Steps `first` to `last`, which run at once: the step at `index` and its siblings.
struct StepRange {
  std::size_t first, last;
};
[[nodiscard]] StepRange siblings_of(const Plan& plan, std::size_t index);

/// Marks the steps of parameters' gradients that run beside the steps that follow them
/// (PlanStep::beside), if the target does that, and the steps that await them. Their tensors live
/// until they are awaited. To be called once no more steps are inserted.
void run_beside(Plan& plan);

/// Lets outputs reuse the memory of inputs that are not read afterwards, where op traits allow it.
void merge_in_place(Plan& plan);

/// Gives every tensor an offset: inputs in the input arena, the rest in the transient arena by
/// lifetime (largest first, lowest offset that is free for the whole lifetime), 256-byte aligned.
void plan_memory(Plan& plan);

/// A table of steps, tensors and offsets (`train summary --plan`).
[[nodiscard]] std::string text_of(const Plan& plan);
/// "stage1.unit1.add1.0.cbr1.conv1 backward_data".
[[nodiscard]] std::string name_of(const Plan& plan, const PlanStep& step);
[[nodiscard]] std::string_view name_of(Pass pass);

}  // namespace trainyard
