#include "plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/philox.h"
#include "plan/passes.h"

namespace trainyard {
namespace {

/// By PlanPass.
const std::string kPassNames[] = {
    "none",          "cancel_biases",      "differentiate",     "absorb_relus",
    "join_loss",     "fold_accumulations", "recompute_outputs", "unpack_gradients",
    "join_siblings", "use_side_queue",     "complete"};

/// True for a step that writes its outputs: a copy, a sum, a forward pass, or a loss's backward
/// pass that takes it along.
bool writes_outputs(const PlanStep& step) {
  return step.kind != PlanStep::Kind::op || step.form.loss ||
         (step.pass != Pass::backward_data && step.pass != Pass::backward_parameters);
}

bool overwrites(const Plan& plan, const PlanStep& step, const PlanStep& other) {
  return std::ranges::any_of(tensors_of(step), [&](const TensorUse& use) {
    return use.writes && use.id != kNoTensor && plan.touches(other, use.id);
  });
}

/// The node whose parameters a node uses: itself, or one before it (`share:`).
NodeId owner_of(const Graph& graph, NodeId node) {
  const std::string& path = graph.nodes[node].parameters_of;
  if (path.empty()) return node;
  return static_cast<NodeId>(std::ranges::find(graph.nodes, path, &Node::path) -
                             graph.nodes.begin());
}

/// A gradient of a parameter of `node`, of the parameters of the node at `path`.
PlanTensor gradient_tensor(const Plan& plan, NodeId node, std::size_t index,
                           const std::string& path) {
  const ParameterSpec& parameter = plan.laid_out.graph.nodes[node].signature.parameters[index];
  const Layout layout = plain_layout(parameter.shape);
  const DType type = plan.target.arithmetic();
  return {.name = path + "." + parameter.name + " gradient",
          .layout = layout,
          .type = type,
          .bytes = static_cast<std::size_t>(span_elements(layout)) * size_of(type)};
}

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

Plan plan_for(const Graph& graph, const Target& target, const PlanRequest& request) {
  const Graph fused = target.can(Can::fuse) ? fuse(graph, target) : graph;
  Plan plan{.laid_out = assign_layouts(fused, target), .target = target};
  slice_concatenations(plan.laid_out, target);
  const auto renamed = [&](ValueId value) { return plan.laid_out.renamed[value]; };
  const ValueId loss = request.train ? renamed(request.loss) : -1;
  std::vector<ValueId> kept;
  for (const ValueId value : request.kept) kept.push_back(renamed(value));
  const BlockLayout blocks = lay_out_blocks(plan.laid_out.graph);  // the layers', with all biases
  if (request.train) cancel_biases(plan, kept);
  differentiate(plan, loss, kept);
  absorb_relus(plan);
  join_loss(plan, loss);
  fold_accumulations(plan);
  recompute_outputs(plan);
  unpack_gradients(plan, blocks);
  join_siblings(plan);
  use_side_queue(plan);
  return plan;
}

void begin(Plan& plan, PlanPass pass) {
  const auto name = [](PlanPass of) { return kPassNames[static_cast<std::size_t>(of)]; };
  TY_CHECK(plan.passed < pass, name(pass) + " after " + name(plan.passed));
  plan.passed = pass;
}

StepDescription description_of(const Plan& plan, const PlanStep& step) {
  const LaidOutGraph& laid_out = plan.laid_out;
  const Node& node = plan.node_of(step);
  const auto layouts_of = [&](const std::vector<ValueId>& values) {
    std::vector<Layout> layouts;
    for (const ValueId value : values) layouts.push_back(laid_out.layouts[value]);
    return layouts;
  };
  StepDescription description{.op = node.op.get(),
                              .pass = step.pass,
                              .storage = plan.target.storage,
                              .tf32 = plan.target.tf32,
                              .signature = node.signature,
                              .inputs = layouts_of(node.inputs),
                              .outputs = layouts_of(node.outputs),
                              .form = step.form,
                              .node = key_of(node.path),
                              .workspace_cap = plan.target.workspace_cap};
  for (const TensorId gradient : step.input_gradients) {
    description.needs_input_gradient.push_back(gradient != kNoTensor);
  }
  return description;
}

std::size_t backward_begin(const Plan& plan) {
  const auto is_forward = [](const PlanStep& step) {
    return step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
  };
  const auto first = std::ranges::find_if_not(plan.steps, is_forward);
  return static_cast<std::size_t>(first - plan.steps.begin());
}

TensorId Plan::root(TensorId id) const {
  while (tensors[id].alias_of != kNoTensor) id = tensors[id].alias_of;
  return id;
}

TensorId Plan::add(PlanTensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
}

std::vector<TensorUse> tensors_of(const PlanStep& step) {
  std::vector<TensorUse> uses;
  const auto add = [&](TensorRole role, const std::vector<TensorId>& ids, bool reads, bool writes) {
    for (const TensorId id : ids) uses.push_back({role, id, reads, writes});
  };
  const bool forward = writes_outputs(step);
  const bool sums = step.kind == PlanStep::Kind::accumulate;
  const bool fills = step.pass == Pass::forward_train;
  uses.reserve(16);
  add(TensorRole::input, step.inputs, true, false);
  if (step.form.adds_layer_bias()) uses[0].writes = true;
  add(TensorRole::output, step.outputs, sums || !forward, forward);
  add(TensorRole::output_gradient, step.output_gradients, true, false);
  add(TensorRole::input_gradient, step.input_gradients, step.form.adds_gradient, true);
  add(TensorRole::parameter_gradient, step.parameter_gradients, false, true);
  uses.push_back({TensorRole::reserve, step.reserve, !fills, fills});
  uses.push_back({TensorRole::workspace, step.workspace, true, true});
  return uses;
}

bool conflict(const Plan& plan, const PlanStep& one, const PlanStep& other) {
  return overwrites(plan, one, other) || overwrites(plan, other, one);
}

bool Plan::touches(const PlanStep& step, TensorId id) const {
  const TensorId owner = root(id);
  return std::ranges::any_of(tensors_of(step), [&](const TensorUse& use) {
    return use.id != kNoTensor && root(use.id) == owner;
  });
}

std::vector<PlanStep>::iterator op_step(Plan& plan, NodeId node, Pass pass) {
  return std::ranges::find_if(plan.steps, [&](const PlanStep& step) {
    return step.kind == PlanStep::Kind::op && step.node == node && step.pass == pass;
  });
}

TensorId add_gradient(Plan& plan, NodeId node, std::size_t index) {
  return plan.add(gradient_tensor(plan, node, index, plan.laid_out.graph.nodes[node].path));
}

TensorId add_block_gradient(Plan& plan, NodeId node, std::size_t index) {
  const NodeId owner = owner_of(plan.laid_out.graph, node);
  PlanTensor entry = gradient_tensor(plan, node, index, plan.laid_out.graph.nodes[owner].path);
  entry.gradient_of = {.node = owner, .index = index};
  return plan.add(std::move(entry));
}

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
