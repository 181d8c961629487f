#include <fmt/format.h>

#include "plan/plan.h"

namespace trainyard {
namespace {

std::string_view name_of(TensorRole role, bool adds) {
  static constexpr std::string_view kNames[] = {"in",     "out",     "dout",     "din",
                                                "dparam", "reserve", "workspace"};
  if (role == TensorRole::input_gradient && adds) return "din+";
  return kNames[static_cast<std::size_t>(role)];
}

std::string tensor_list(const PlanStep& step) {
  std::string out;
  for (const TensorUse& use : tensors_of(step)) {
    if (use.id == kNoTensor) continue;
    out += fmt::format(" {}={}", name_of(use.role, step.form.adds_gradient), use.id);
  }
  if (step.awaits >= 0) out += fmt::format(" after={}", step.awaits);
  if (step.form.on_side_queue()) out += " side_queue";
  if (step.sibling) out += " sibling";
  return out;
}

/// "conv1 (bn1), conv2 (bn2)".
std::string cancelled_list(const Plan& plan) {
  std::string out;
  for (const CancelledBias& bias : plan.cancelled_biases) {
    const std::vector<Node>& nodes = plan.laid_out.graph.nodes;
    out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", nodes[bias.layer].path,
                       nodes[bias.norm].path);
  }
  return out;
}

}  // namespace

std::string_view name_of(Pass pass) {
  static constexpr std::string_view kNames[] = {"forward_train", "forward_eval", "recompute",
                                                "backward_data", "backward_parameters"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::string name_of(const Plan& plan, const PlanStep& step) {
  if (step.kind == PlanStep::Kind::unpack) return "unpack gradients";
  const std::string path = step.node < 0 ? "input" : plan.node_of(step).path;
  if (step.kind == PlanStep::Kind::accumulate) return path + " accumulate";
  const std::string_view besides = step.form.relu                ? " and relu"
                                   : step.form.sums_layer_bias() ? " and bias"
                                                                 : "";
  if (step.form.loss) {
    return fmt::format("{}{} forward and backward", path,
                       step.form.accuracy ? " and accuracy" : "");
  }
  return fmt::format("{}{} {}", path, besides, name_of(step.pass));
}

std::string text_of(const Plan& plan) {
  std::string out =
      fmt::format("plan for {}: {} steps, {} tensors, {} transient bytes\n", plan.target.name,
                  plan.steps.size(), plan.tensors.size(), plan.transient_bytes);
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const PlanStep& step = plan.steps[index];
    out += fmt::format("{:4} {}{}\n", index, name_of(plan, step), tensor_list(step));
  }
  if (!plan.cancelled_biases.empty()) {
    out += "biases that batch norms cancel: " + cancelled_list(plan) + "\n";
  }
  out += "tensor bytes offset type shape layout name\n";
  for (std::size_t id = 0; id < plan.tensors.size(); ++id) {
    const PlanTensor& tensor = plan.tensors[id];
    const TensorId root = plan.root(static_cast<TensorId>(id));
    const std::string offset = tensor.gradient_of ? "gradients" : std::to_string(tensor.offset);
    out += fmt::format("{:4} {:10} {:>10} {:4} {} {} {}{}\n", id, tensor.bytes, offset,
                       name_of(tensor.type), shape_of(tensor.layout).text(), text_of(tensor.layout),
                       tensor.name,
                       root == static_cast<TensorId>(id) ? "" : fmt::format(" = {}", root));
  }
  return out;
}

}  // namespace trainyard
