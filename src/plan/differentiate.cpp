
#include <algorithm>
#include <utility>

#include "plan/passes.h"

namespace trainyard {
namespace {

/// The gradient of a value while the backward pass is being built. An owned tensor has no other
/// reader and may be added to; a shared one also serves other values.
struct Gradient {
  TensorId tensor = kNoTensor;
  bool owned = false;
};

class Differentiator {
 public:
  Differentiator(Plan& plan, bool train)
      : plan_(plan),
        graph_(plan.laid_out.graph),
        train_(train),
        owners_(parameter_owners(graph_)),
        written_(graph_.nodes.size(), 0) {
    plan_.values.assign(graph_.values.size(), kNoTensor);
    gradients_.resize(graph_.values.size());
    for (const ValueId input : graph_.inputs) {
      plan_.values[input] = value_tensor(input, "input");
      plan_.tensors[plan_.values[input]].input = true;
    }
  }

  void forward() {
    for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) forward(id);
  }

  void backward(ValueId loss) {
    find_trainable();
    const NodeId last = graph_.values[loss].producer;
    for (NodeId id = last; id >= 0; --id) {
      const Node& node = graph_.nodes[id];
      if (!trainable_[id]) continue;
      if (id == last || gradients_[node.outputs[0]].tensor != kNoTensor) backward(id, id == last);
    }
  }

 private:
  [[nodiscard]] DType type_of(const Value& value) const {
    if (value.type == DType::i32 || value.exact) return value.type;
    const bool arithmetic =
        value.producer >= 0 && graph_.nodes[value.producer].op->contract().arithmetic_outputs;
    return arithmetic ? plan_.target.arithmetic() : plan_.target.storage;
  }

  TensorId value_tensor(ValueId value, const std::string& name) {
    const Layout& layout = plan_.laid_out.layouts[value];
    const DType type = type_of(graph_.values[value]);
    return plan_.add({.name = name,
                      .layout = layout,
                      .type = type,
                      .bytes = static_cast<std::size_t>(span_elements(layout)) * size_of(type)});
  }

  TensorId alias(TensorId of, ValueId value, const std::string& name) {
    const TensorId tensor = value_tensor(value, name);
    plan_.tensors[tensor].alias_of = of;
    return tensor;
  }

  /// `part` as channels of the tensor of its whole, or of the whole's gradient.
  TensorId slice_of(TensorId whole, ValueId part, const std::string& name) {
    const TensorId tensor = alias(whole, part, name);
    const std::int64_t first = plan_.laid_out.slices[part].first;
    const std::int64_t elements = plan_.tensors[whole].layout.offset(0, first, 0, 0);
    plan_.tensors[tensor].alias_offset =
        static_cast<std::size_t>(elements) * size_of(plan_.tensors[tensor].type);
    return tensor;
  }

  /// The tensor that a forward step writes `value` to.
  TensorId output_tensor(ValueId value, const std::string& name) {
    const ValueId whole = plan_.laid_out.slices[value].whole;
    if (whole < 0) return value_tensor(value, name);
    if (plan_.values[whole] == kNoTensor) {
      const NodeId concatenation = graph_.values[whole].producer;
      plan_.values[whole] = value_tensor(whole, graph_.nodes[concatenation].path);
    }
    return slice_of(plan_.values[whole], value, name);
  }

  /// True for a concatenation whose branches are slices of it: there is nothing to do.
  [[nodiscard]] bool is_sliced(const Node& node) const {
    return !node.inputs.empty() && plan_.laid_out.slices[node.inputs[0]].whole == node.outputs[0];
  }

  static bool trains_parameters(const Node& node) {
    return !node.frozen && !node.signature.parameters.empty();
  }

  static PlanStep::Kind kind_of(const Node& node) {
    return node.op->type() == "reorder" ? PlanStep::Kind::reorder : PlanStep::Kind::op;
  }

  void forward(NodeId id) {
    const Node& node = graph_.nodes[id];
    if (is_sliced(node)) return;
    const Contract contract = node.op->contract();
    if (contract.alias_forward || (!train_ && contract.eval_is_identity)) {
      plan_.values[node.outputs[0]] =
          alias(plan_.values[node.inputs[0]], node.outputs[0], node.path);
      return;
    }
    PlanStep step{.kind = kind_of(node),
                  .pass = train_ ? Pass::forward_train : Pass::forward_eval,
                  .node = id};
    for (const ValueId input : node.inputs) step.inputs.push_back(plan_.values[input]);
    for (const ValueId output : node.outputs) {
      step.outputs.push_back(plan_.values[output] = output_tensor(output, node.path));
    }
    plan_.steps.push_back(std::move(step));
  }

  /// A node is trainable if it or any node before it has trainable parameters.
  void find_trainable() {
    trainable_.assign(graph_.nodes.size(), false);
    needs_gradient_.assign(graph_.values.size(), false);
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const Node& node = graph_.nodes[id];
      bool wanted = trains_parameters(node);
      for (const ValueId input : node.inputs) wanted = wanted || needs_gradient_[input];
      trainable_[id] = wanted;
      for (const ValueId output : node.outputs) needs_gradient_[output] = wanted;
    }
  }

  void backward(NodeId id, bool is_loss) {
    const Node& node = graph_.nodes[id];
    const Contract contract = node.op->contract();
    const Gradient arrived = is_loss ? Gradient{} : gradients_[node.outputs[0]];
    if (is_sliced(node)) return pass_on_slices(node, arrived);
    if (contract.alias_forward || contract.alias_gradient) {
      pass_on(node, arrived, contract);
      return;
    }
    const bool trains = trains_parameters(node);
    if (trains && !contract.synced_backward) {
      push_with_parameters(backward_step(id, Pass::backward_parameters, arrived));
    }
    bool needs_input = false;
    for (const ValueId input : node.inputs) needs_input = needs_input || needs_gradient_[input];
    if (needs_input || (trains && contract.synced_backward)) backward_data(id, arrived);
  }

  /// Appends a step that computes gradients of parameters. The first step to reach a parameter that
  /// several nodes share writes to the gradient block, the later ones add to it. Gradients of a
  /// frozen node are discarded: the block holds only what is trained.
  void push_with_parameters(PlanStep step) {
    const NodeId id = step.node;
    const Node& node = graph_.nodes[id];
    const std::vector<ParameterSpec>& parameters = node.signature.parameters;
    std::size_t& written = written_[owners_[id]];
    const std::size_t apart = node.frozen ? parameters.size() : written;
    std::vector<TensorId> gradients;
    for (std::size_t index = 0; apart > 0 && index < parameters.size(); ++index) {
      gradients.push_back(index < apart ? add_gradient(plan_, id, index)
                                        : add_block_gradient(plan_, id, index));
    }
    step.parameter_gradients = gradients;
    plan_.steps.push_back(std::move(step));
    if (node.frozen) return;
    for (std::size_t index = 0; index < std::min(apart, parameters.size()); ++index) {
      accumulate(gradients[index], add_block_gradient(plan_, id, index), id);
    }
    written = std::max(written, parameters.size());
  }

  /// Identity, flatten, add: the gradient of the output is the gradient of each input.
  void pass_on(const Node& node, const Gradient& arrived, const Contract& contract) {
    const bool sole = contract.alias_forward && arrived.owned;
    for (const ValueId input : node.inputs) {
      if (!needs_gradient_[input]) continue;
      const TensorId view = alias(arrived.tensor, input, plan_.tensors[arrived.tensor].name);
      contribute(input, {view, sole});
    }
  }

  void pass_on_slices(const Node& node, const Gradient& arrived) {
    const std::string name = plan_.tensors[arrived.tensor].name;
    for (const ValueId input : node.inputs) {
      if (!needs_gradient_[input]) continue;
      contribute(input, {slice_of(arrived.tensor, input, name), arrived.owned});
    }
  }

  PlanStep backward_step(NodeId id, Pass pass, const Gradient& arrived) {
    const Node& node = graph_.nodes[id];
    const Contract contract = node.op->contract();
    PlanStep step{.kind = kind_of(node), .pass = pass, .node = id};
    for (const ValueId input : node.inputs) {
      const bool first = contract.backward_reads_first_input && step.inputs.empty();
      const bool read = contract.backward_reads_inputs || first;
      step.inputs.push_back(read ? plan_.values[input] : kNoTensor);
    }
    for (const ValueId output : node.outputs) {
      step.outputs.push_back(contract.backward_reads_outputs ? plan_.values[output] : kNoTensor);
    }
    step.output_gradients = {arrived.tensor};
    return step;
  }

  void backward_data(NodeId id, const Gradient& arrived) {
    const Node& node = graph_.nodes[id];
    const Contract contract = node.op->contract();
    PlanStep step = backward_step(id, Pass::backward_data, arrived);
    TensorId shared = kNoTensor;
    for (const ValueId input : node.inputs) {
      TensorId gradient = kNoTensor;
      if (needs_gradient_[input]) {
        gradient = shared != kNoTensor ? shared : value_tensor(input, node.path + " gradient");
        if (contract.shared_gradient) shared = gradient;
      }
      step.input_gradients.push_back(gradient);
    }
    const std::vector<TensorId> written = step.input_gradients;
    if (contract.synced_backward && !node.signature.parameters.empty()) {
      push_with_parameters(std::move(step));
    } else {
      plan_.steps.push_back(std::move(step));
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (written[i] != kNoTensor) {
        contribute(node.inputs[i], {written[i], !contract.shared_gradient});
      }
    }
  }

  void accumulate(TensorId from, TensorId onto, NodeId node) {
    plan_.steps.push_back({.kind = PlanStep::Kind::accumulate,
                           .pass = Pass::backward_data,
                           .node = node,
                           .inputs = {from},
                           .outputs = {onto}});
  }

  /// Adds a gradient to what `value` has received so far, into a tensor that is owned.
  void contribute(ValueId value, Gradient arriving) {
    Gradient& sum = gradients_[value];
    const NodeId node = graph_.values[value].producer;
    if (sum.tensor == kNoTensor) {
      sum = arriving;
    } else if (arriving.owned) {
      accumulate(sum.tensor, arriving.tensor, node);
      sum = arriving;
    } else {
      if (!sum.owned) {
        const TensorId copy = value_tensor(value, "gradient sum");
        plan_.steps.push_back({.kind = PlanStep::Kind::reorder,
                               .pass = Pass::backward_data,
                               .node = node,
                               .inputs = {sum.tensor},
                               .outputs = {copy}});
        sum = {copy, true};
      }
      accumulate(arriving.tensor, sum.tensor, node);
    }
  }

  Plan& plan_;
  const Graph& graph_;
  bool train_;
  std::vector<NodeId> owners_;        // owner of each node's parameters
  std::vector<std::size_t> written_;  // by NodeId of an owner: how many of its parameters'
                                      // gradients, from the first one on, a step wrote
  std::vector<Gradient> gradients_;   // indexed by ValueId
  std::vector<bool> trainable_;       // indexed by NodeId
  std::vector<bool> needs_gradient_;  // indexed by ValueId
};

/// Reorder nodes carry their copies in inputs[0] and outputs[0] in both directions.
void turn_backward_reorders(Plan& plan) {
  for (PlanStep& step : plan.steps) {
    if (step.kind != PlanStep::Kind::reorder || step.output_gradients.empty()) continue;
    step.inputs = step.output_gradients;
    step.outputs = step.input_gradients;
    step.output_gradients.clear();
    step.input_gradients.clear();
  }
}

}  // namespace

void differentiate(Plan& plan, ValueId loss, std::span<const ValueId> kept) {
  begin(plan, PlanPass::differentiate);
  Differentiator differentiator(plan, loss >= 0);
  differentiator.forward();
  for (const ValueId value : kept) plan.tensors[plan.root(plan.values[value])].kept = true;
  if (loss >= 0) differentiator.backward(loss);
  turn_backward_reorders(plan);
}

}  // namespace trainyard
