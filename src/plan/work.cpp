#include "plan/work.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace trainyard {
namespace {

/// Bytes of the elements with their padding, without those of other slices in between.
std::size_t stored_bytes(const PlanTensor& tensor) {
  const Layout& layout = tensor.layout;
  const std::int64_t elements =
      layout.extent[0] * layout.padded_channels * layout.extent[2] * layout.extent[3];
  return static_cast<std::size_t>(elements) * size_of(tensor.type);
}

/// Bytes of the tensors in some lists; a tensor that appears several times counts once.
std::size_t bytes_of(const Plan& plan, std::initializer_list<const std::vector<TensorId>*> lists) {
  std::vector<TensorId> roots;
  std::size_t bytes = 0;
  for (const std::vector<TensorId>* list : lists) {
    for (const TensorId id : *list) {
      if (id == kNoTensor) continue;
      const TensorId root = plan.root(id);
      if (std::find(roots.begin(), roots.end(), root) != roots.end()) continue;
      roots.push_back(root);
      bytes += stored_bytes(plan.tensors[id]);
    }
  }
  return bytes;
}

template <class Spec>
std::size_t bytes_of(const std::vector<Spec>& specs, DType type) {
  std::int64_t elements = 0;
  for (const Spec& spec : specs) elements += spec.shape.elements();
  return static_cast<std::size_t>(elements) * size_of(type);
}

/// True for a step that writes outputs.
bool is_forward(const PlanStep& step) {
  return step.pass == Pass::forward_train || step.pass == Pass::forward_eval ||
         step.pass == Pass::recompute;
}

bool writes_parameter_gradients(const PlanStep& step, const Op& op) {
  return step.pass == Pass::backward_parameters ||
         (step.pass == Pass::backward_data && op.contract().synced_backward);
}

std::size_t bytes_read(const Plan& plan, const PlanStep& step) {
  if (is_forward(step)) return bytes_of(plan, {&step.inputs});
  const std::size_t added = step.form.adds_gradient ? bytes_of(plan, {&step.input_gradients}) : 0;
  return added + bytes_of(plan, {&step.inputs, &step.outputs, &step.output_gradients});
}

std::size_t bytes_written(const Plan& plan, const PlanStep& step) {
  return bytes_of(plan, {is_forward(step) ? &step.outputs : &step.input_gradients});
}

/// Bytes of parameters, their gradients, the batch's statistics and the reserve.
std::size_t bytes_besides_values(const Plan& plan, const PlanStep& step) {
  const Node& node = plan.node_of(step);
  const DType type = plan.target.arithmetic();
  const std::size_t parameters = bytes_of(node.signature.parameters, type);
  const std::size_t statistics = bytes_of(node.signature.statistics, type);
  const std::size_t reserve = step.reserve == kNoTensor ? 0 : plan.tensors[step.reserve].bytes;
  std::size_t bytes = writes_parameter_gradients(step, *node.op) ? parameters : 0;
  if (is_forward(step)) bytes += parameters + statistics + reserve;
  if (step.pass == Pass::backward_data) bytes += statistics + (reserve > 0 ? reserve : parameters);
  return bytes;
}

std::size_t bytes_moved(const Plan& plan, const PlanStep& step) {
  switch (step.kind) {
    case PlanStep::Kind::accumulate:
      return bytes_of(plan, {&step.inputs}) + 2 * bytes_of(plan, {&step.outputs});
    case PlanStep::Kind::reorder:
    case PlanStep::Kind::unpack:
      return bytes_of(plan, {&step.inputs}) + bytes_of(plan, {&step.outputs});
    case PlanStep::Kind::op:
      break;
  }
  return bytes_read(plan, step) + bytes_written(plan, step) + bytes_besides_values(plan, step);
}

}  // namespace

double flop_of(const Plan& plan, const PlanStep& step) {
  if (step.kind != PlanStep::Kind::op) return 0;
  const Node& node = plan.node_of(step);
  const bool both = step.pass == Pass::backward_data && node.op->contract().synced_backward;
  return 2 * static_cast<double>(node.signature.multiply_adds) * (both ? 2 : 1);
}

double flop_of(const Plan& plan) {
  double flop = 0;
  for (const PlanStep& step : plan.steps) flop += flop_of(plan, step);
  return flop;
}

std::size_t bytes_moved(const Plan& plan) {
  std::size_t bytes = 0;
  for (const PlanStep& step : plan.steps) bytes += bytes_moved(plan, step);
  return bytes;
}

std::size_t update_bytes(const BlockLayout& blocks, DType type, int slots) {
  const auto parameters = static_cast<std::size_t>(blocks.parameter_elements);
  const auto statistics = static_cast<std::size_t>(blocks.statistic_elements);
  const auto states = static_cast<std::size_t>(slots);
  return (parameters * (1 + 2 + 2 * states) + statistics * (1 + 2)) * size_of(type);
}

}  // namespace trainyard
