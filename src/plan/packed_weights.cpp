#include "plan/packed_weights.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/offset_allocator.h"
#include "compute/copy/packed_parameters.h"
#include "plan/gradient_buckets.h"

namespace trainyard {
namespace {

/// The most elements of parameters whose gradients may stay packed to the end of the pass
/// (Program::leave_packed()): in larger models a launch does not show, and memory would be lost.
constexpr std::int64_t kMostLeftPacked = std::int64_t{4} << 20;

/// Rewrites the steps of a plan.
class Unpacker {
 public:
  Unpacker(Plan& plan, const BlockLayout& blocks)
      : plan_(plan),
        owners_(parameter_owners(plan.laid_out.graph)),
        keeps_(plan.target.merges_launches && blocks.parameter_elements <= kMostLeftPacked) {
    const std::size_t element = size_of(plan.target.arithmetic());
    for (const GradientBucket& bucket : cut_gradient_buckets(plan, blocks, element)) {
      ends_.push_back(bucket.steps);
    }
  }

  void run() {
    std::vector<PlanStep> steps = std::move(plan_.steps);
    plan_.steps.clear();
    for (std::size_t index = 0; index < steps.size(); ++index) {
      PlanStep& step = steps[index];
      if (sums_gradients(step)) unpack();
      if (step.kind == PlanStep::Kind::op) write_packed(step);
      plan_.steps.push_back(std::move(step));
      if (std::ranges::find(ends_, index + 1) != ends_.end()) unpack();
    }
  }

 private:
  [[nodiscard]] bool sums_gradients(const PlanStep& step) const {
    return step.kind == PlanStep::Kind::accumulate &&
           plan_.tensors[step.outputs[0]].gradient_of.has_value();
  }
  TensorId add(PlanTensor tensor) {
    plan_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(plan_.tensors.size()) - 1;
  }

  void write_packed(PlanStep& step) {
    const Node& node = plan_.laid_out.graph.nodes[step.node];
    for (const PackedParameter& packed : packed_gradients(description_of(plan_, step))) {
      const ParameterSpec& parameter = node.signature.parameters[packed.index];
      const WeightShape& shape = packed.shape;
      const TensorId from = add({.name = node.path + "." + parameter.name + " packed gradient",
                                 .layout = packed_layout(shape),
                                 .type = plan_.target.storage,
                                 .bytes = static_cast<std::size_t>(shape.packed_elements()) *
                                          size_of(plan_.target.storage),
                                 .kept = keeps_,
                                 .packed = shape});
      step.packed_gradients.resize(node.signature.parameters.size(), kNoTensor);
      step.packed_gradients[packed.index] = from;
      pending_.inputs.push_back(from);
      pending_.outputs.push_back(target_of(step, packed.index));
      pending_.node = step.node;
    }
  }
  /// Where the plain gradient goes: to where the step would have written it.
  TensorId target_of(PlanStep& step, std::size_t index) {
    if (!step.parameter_gradients.empty()) {
      return std::exchange(step.parameter_gradients[index], kNoTensor);
    }
    const NodeId owner = owners_[step.node];
    const Node& node = plan_.laid_out.graph.nodes[owner];
    const TensorId entry = add(gradient_tensor(plan_, node.signature.parameters[index], node.path));
    plan_.tensors[entry].gradient_of = {.node = owner, .index = index};
    return entry;
  }
  void unpack() {
    if (pending_.inputs.empty()) return;
    PlanStep step = std::exchange(pending_, {});
    step.kind = PlanStep::Kind::unpack;
    step.pass = Pass::backward_parameters;
    plan_.steps.push_back(std::move(step));
  }

  Plan& plan_;
  std::vector<NodeId> owners_;
  bool keeps_;
  std::vector<std::size_t> ends_;  // steps before the end of each gradient bucket
  PlanStep pending_;
};

}  // namespace

void use_packed_weights(Plan& plan, const BlockLayout& blocks) {
  for (PlanStep& step : plan.steps) {
    if (step.kind != PlanStep::Kind::op) continue;
    step.packed_parameters = packed_parameters(description_of(plan, step));
  }
  Unpacker(plan, blocks).run();
}

PackedLayout lay_out_packed(const BlockLayout& blocks, std::span<const Plan* const> plans) {
  PackedLayout layout{.type = plans.front()->target.storage};
  OffsetAllocator allocator;
  for (const Plan* plan : plans) {
    for (const PlanStep& step : plan->steps) {
      for (const PackedParameter& packed : step.packed_parameters) {
        const std::int64_t parameter = blocks.parameter_of_node[step.node][packed.index];
        if (layout.find(parameter, packed.shape) != nullptr) continue;
        layout.entries.push_back(
            {.parameter = parameter,
             .shape = packed.shape,
             .offset = allocator.take(static_cast<std::size_t>(packed.shape.packed_elements()) *
                                      size_of(layout.type))});
      }
    }
  }
  layout.bytes = allocator.used();
  return layout;
}

}  // namespace trainyard
