// Gains on a GPU: 22 and 20 launches that pack become 1, 21 and 19 that unpack 1 and 3, of
// ResNet-20 and MiniGoogLeNet (docs/results/log/gpu.md); about 1 us each on an H200, not measured
// alone.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/offset_allocator.h"
#include "compute/weight_shape.h"
#include "plan/blocks.h"
#include "plan/passes.h"

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
        keeps_(plan.target.can(Can::merge_launches) &&
               blocks.parameter_elements <= kMostLeftPacked) {
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
  void write_packed(PlanStep& step) {
    const Node& node = plan_.node_of(step);
    for (const PackedParameter& packed : packed_gradients(description_of(plan_, step))) {
      const ParameterSpec& parameter = node.signature.parameters[packed.index];
      const WeightShape& shape = packed.shape;
      const TensorId from =
          plan_.add({.name = node.path + "." + parameter.name + " packed gradient",
                     .layout = packed_layout(shape),
                     .type = plan_.target.storage,
                     .bytes = static_cast<std::size_t>(shape.packed_elements()) *
                              size_of(plan_.target.storage),
                     .kept = keeps_,
                     .packed = shape});
      step.parameter_gradients.resize(node.signature.parameters.size(), kNoTensor);
      const TensorId plain = std::exchange(step.parameter_gradients[packed.index], from);
      pending_.inputs.push_back(from);
      pending_.outputs.push_back(
          plain == kNoTensor ? add_block_gradient(plan_, step.node, packed.index) : plain);
      pending_.node = step.node;
    }
  }
  void unpack() {
    if (pending_.inputs.empty()) return;
    PlanStep step = std::exchange(pending_, {});
    step.kind = PlanStep::Kind::unpack;
    step.pass = Pass::backward_parameters;
    plan_.steps.push_back(std::move(step));
  }

  Plan& plan_;
  bool keeps_;
  std::vector<std::size_t> ends_;  // steps before the end of each gradient bucket
  PlanStep pending_;
};

}  // namespace

void unpack_gradients(Plan& plan, const BlockLayout& blocks) {
  begin(plan, PlanPass::unpack_gradients);
  if (plan.target.packs_weights) Unpacker(plan, blocks).run();
}

std::vector<PackedParameter> packed_parameters_of(const Plan& plan, const PlanStep& step) {
  if (!plan.target.packs_weights || step.kind != PlanStep::Kind::op) return {};
  return packed_parameters(description_of(plan, step));
}

PackedLayout lay_out_packed(const BlockLayout& blocks, std::span<const Plan* const> plans) {
  PackedLayout layout{.type = plans.front()->target.storage};
  OffsetAllocator allocator;
  for (const Plan* plan : plans) {
    for (const PlanStep& step : plan->steps) {
      for (const PackedParameter& packed : packed_parameters_of(*plan, step)) {
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
