// A plan: the steps of a program and the tensors that they read and write, as plain data.
//
// The folder plan turns a graph into steps with memory: pure functions from data to data, and the
// program that binds executors to the result. It trains nothing and needs no device.
//
// complete() plans memory last, once executors have stated workspace and reserve: the largest
// tensor first, at the lowest free offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/executor.h"
#include "compute/weight_shape.h"
#include "graph/graph.h"
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
  // Empty: all to the gradient block. Else one per parameter, of which kNoTensor goes there.
  std::vector<TensorId> parameter_gradients;
  StepForm form;
  NodeId bias_of = -1;   // the layer whose bias the step of a loss adds (StepForm::Bias::of_other)
  bool sibling = false;  // runs in the launches of the step before it (join_siblings())
  // Begins when this earlier step, one of the side queue, is done; -1: waits for none.
  std::int32_t awaits = -1;
  TensorId reserve = kNoTensor;
  TensorId workspace = kNoTensor;
};

/// What a tensor is to a step: a list of PlanStep.
enum class TensorRole {
  input,
  output,
  output_gradient,
  input_gradient,
  parameter_gradient,
  reserve,
  workspace
};

struct TensorUse {
  TensorRole role = TensorRole::input;
  TensorId id = kNoTensor;
  bool reads = false, writes = false;
};

/// What a step reads and writes, in the order of its lists, with kNoTensor where these have it: the
/// one list that lifetimes, conflicts between steps, the plan's text and the binding of addresses
/// follow. (The entries of the flat blocks that a step reads and writes are no tensors of the
/// plan.)
[[nodiscard]] std::vector<TensorUse> tensors_of(const PlanStep& step);

/// The slice that holds a value: channels of `whole`, a concatenation, starting at `first`.
struct ChannelSlice {
  ValueId whole = -1;  // -1: the value has memory of its own
  std::int64_t first = 0;
};

/// A graph whose values have layouts; nodes of type "reorder" convert where layouts differ.
struct LaidOutGraph {
  Graph graph;
  std::vector<Layout> layouts;       // indexed by ValueId of `graph`
  std::vector<ChannelSlice> slices;  // indexed by ValueId of `graph`
  std::vector<ValueId> renamed;      // ValueId before to ValueId in `graph`, -1 for unused values
};

/// A layer with a bias and a batch norm of its output. The bias would shift the output and the
/// batch mean alike, so that the norm is the same without it and its gradient is exactly 0; the
/// running mean takes the batch mean and the bias (BiasedMeans).
struct CancelledBias {
  NodeId layer = -1;
  NodeId norm = -1;

  bool operator==(const CancelledBias&) const = default;
};

/// The passes that change a plan (plan/passes.h), in their order, each with what it needs of it.
enum class PlanPass {
  none,
  cancel_biases,       // before there are steps: they are made of layers as they are
  differentiate,       // makes the steps that all others change
  absorb_relus,        // before the loss: a layer with a ReLU keeps its bias
  join_loss,           // before sums are folded and outputs recomputed: these count readers
  fold_accumulations,  // before steps are inserted: it looks at all that is between two
  recompute_outputs,   // inserts steps
  unpack_gradients,    // inserts steps, the last to do so: gradient buckets end at numbers of steps
  join_siblings,       // moves steps
  use_side_queue,      // no step is inserted or moved from here on: `awaits` are numbers of steps
  complete             // memory follows from the order of steps and from what overlaps
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
  PlanPass passed = PlanPass::none;  // the last pass that has run

  [[nodiscard]] const Node& node_of(const PlanStep& step) const {
    return laid_out.graph.nodes[step.node];
  }
  /// True if target and op can do this with a step, one of an op.
  [[nodiscard]] bool can(const PlanStep& step, Can what) const {
    return step.kind == PlanStep::Kind::op && target.can(what) &&
           node_of(step).op->contract().can(what);
  }
  /// The tensor that owns the bytes of `id`.
  [[nodiscard]] TensorId root(TensorId id) const;
  /// True if a step reads or writes bytes of the tensor that owns those of `id` (tensors_of()).
  [[nodiscard]] bool touches(const PlanStep& step, TensorId id) const;
  /// The tensor's id.
  TensorId add(PlanTensor tensor);
};

/// True if one of the steps writes bytes of a tensor that the other reads or writes. Slices of a
/// tensor count as the whole.
[[nodiscard]] bool conflict(const Plan& plan, const PlanStep& one, const PlanStep& other);

/// What a plan must compute.
struct PlanRequest {
  bool train = true;          // forward_train and backward, or forward_eval alone
  ValueId loss = -1;          // per-sample losses; backward starts here
  std::vector<ValueId> kept;  // values read after the last step (ids of the graph before layout)
};

/// Steps and tensors of a graph on a target: all passes but the last. complete() plans the memory
/// once executors have stated their needs.
[[nodiscard]] Plan plan_for(const Graph& graph, const Target& target, const PlanRequest& request);

/// What the executor of an op's step is built from; the device's part is left out.
[[nodiscard]] StepDescription description_of(const Plan& plan, const PlanStep& step);

/// The index of the first step of the backward pass, whose recomputed outputs belong to it; without
/// one the number of steps.
[[nodiscard]] std::size_t backward_begin(const Plan& plan);

/// What the executor of a step needs besides its tensors, in bytes.
struct StepNeeds {
  std::size_t workspace = 0;  // need of this step alone
  std::size_t reserve = 0;    // from forward_train to the node's backward steps
};

/// Gives the steps what they need (one entry per step), merges in place and assigns every tensor
/// its offset. Executors must respect the target's workspace cap (StepDescription::workspace_cap).
void complete(Plan& plan, std::span<const StepNeeds> needs);

/// Upper bounds on the steps' needs for a target whose device is not available: for ops with
/// parameters or statistics (products and sums over a batch; the others need none) the target's
/// cap, and what the op saves for backward.
[[nodiscard]] std::vector<StepNeeds> largest_needs(const Plan& plan);

/// Steps `first` to `last`, which run at once: the step at `index` and its siblings.
struct StepRange {
  std::size_t first, last;
};
[[nodiscard]] StepRange siblings_of(const Plan& plan, std::size_t index);

/// A table of steps, tensors and offsets (`train summary --plan`).
[[nodiscard]] std::string text_of(const Plan& plan);
/// "stage1.unit1.add1.0.cbr1.conv1 backward_data".
[[nodiscard]] std::string name_of(const Plan& plan, const PlanStep& step);
[[nodiscard]] std::string_view name_of(Pass pass);

}  // namespace trainyard
