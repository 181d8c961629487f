// The passes that make a plan, in the order in which plan_for() runs them.
//
// A pass works where the target and the op can (Can), and is nothing to do otherwise. Passes that
// take a Plan note themselves in Plan::passed and refuse to run after a later one (Error{bug}).
#pragma once

#include <span>
#include <vector>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace trainyard {

/// Merges neighbouring ops that one executor computes in one pass over memory, where nothing else
/// reads the value in between:
///   bn + relu, add + relu   become one node at the first one's path;
///   bn + add + relu         with two branches become one bn in the position of the sum; if both
///                           branches end in bn, the later one.
/// The last requires maps in whole multiples of the target's channels. The results are
/// bit-identical, except for fewer roundings where an executor keeps the value in between in a
/// register.
[[nodiscard]] Graph fuse(const Graph& graph, const Target& target);

/// The network's input is plain, or a feature map if the target says so. Convolutions and poolings
/// produce the target's layout, plain ops take and produce plain tensors and ops of rows those of
/// row_layout(), the others use the layout of their first input.
[[nodiscard]] LaidOutGraph assign_layouts(const Graph& graph, const Target& target);

/// Concatenations without copies: branches that only their concatenation reads are written straight
/// into it (LaidOutGraph::slices) if their ops can write slices and all channel counts are whole
/// multiples of the target's: all branches of a concatenation, or none.
void slice_concatenations(LaidOutGraph& laid_out, const Target& target);

/// Takes the bias from every layer of a training graph whose output is read by batch norms alone:
/// by no residual, and not in `kept`, the values read after the last step. The layer is one without
/// bias then; its parameter remains, for evaluation and for layers that share it.
/// Plan::cancelled_biases are in the order of the layers.
void cancel_biases(Plan& plan, std::span<const ValueId> kept);

/// Makes the steps: the forward pass of each node and, from `loss` back, those of the gradients,
/// which follow from the contracts; -1: forward_eval alone. `kept` as above.
void differentiate(Plan& plan, ValueId loss, std::span<const ValueId> kept);

/// Removes forward steps of ReLUs: where a layer with a bias writes what a ReLU alone reads, in the
/// layout that this writes, the layer's step does both (Can::take_relu). The gradient of the bias
/// moves to the ReLU's backward step (Can::sum_bias), which reads and writes all that is summed
/// anyway.
void absorb_relus(Plan& plan);

/// Joins the forward step of a network's only loss, that of an accuracy of the same values and the
/// bias before them with the loss's backward step (Can::merge_launches). `loss`: -1: none.
void join_loss(Plan& plan, ValueId loss);

/// Removes accumulations: where the later of two gradients is of a step that can add, and nothing
/// else reads the earlier one any more, the step adds to that.
void fold_accumulations(Plan& plan);

/// Inserts steps that recompute outputs before the backward pass first reads them, so that their
/// memory is free in between: where all of the tensor can be recomputed, and what that reads is
/// kept for later steps anyway.
void recompute_outputs(Plan& plan);

/// For a device that packs weights (Target::packs_weights): a step that writes a gradient packed
/// gets a tensor for it, and steps are inserted that unpack all of these at once: after the last
/// step of each gradient bucket, and before a sum reads one.
void unpack_gradients(Plan& plan, const BlockLayout& blocks);

/// Moves steps of batch norms that are branches of one concatenation next to each other, so that
/// one launch does the work of several (PlanStep::sibling): where the later one may pass the steps
/// between, or else the earlier ones may: those neither write what it reads or writes nor read what
/// it writes. The other steps keep their order.
void join_siblings(Plan& plan);

/// Puts the steps of parameters' gradients on the side queue, where they overlap the steps that
/// follow, and marks those that await them. Their tensors live until they are awaited.
void use_side_queue(Plan& plan);

/// Lets outputs reuse the memory of inputs that are not read afterwards, where op traits allow it.
/// Part of complete().
void merge_in_place(Plan& plan);

/// Gives every tensor an offset: inputs in the input arena, the rest in the transient arena by
/// lifetime (largest first, lowest offset that is free for the whole lifetime), 256-byte aligned.
/// Part of complete().
void plan_memory(Plan& plan);

// What passes share.

/// Notes that a pass begins. Error{bug} if it or a later one has run.
void begin(Plan& plan, PlanPass pass);
/// The step of a node's pass; the end if there is none.
[[nodiscard]] std::vector<PlanStep>::iterator op_step(Plan& plan, NodeId node, Pass pass);
/// A new tensor for the gradient of a parameter of `node`, plain.
[[nodiscard]] TensorId add_gradient(Plan& plan, NodeId node, std::size_t index);
/// A new tensor that is the parameter's entry in the gradient block.
[[nodiscard]] TensorId add_block_gradient(Plan& plan, NodeId node, std::size_t index);

}  // namespace trainyard
