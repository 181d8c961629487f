#include "plan_rules.h"

#include <algorithm>
#include <set>
#include <utility>

#include "overlaps.h"
#include "plan/blocks.h"

namespace trainyard::test {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSliceAlignment = 16;  // what a thread of a GPU loads at once

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

class Rules {
 public:
  explicit Rules(const Plan& plan)
      : plan_(plan),
        owners_(parameter_owners(plan.laid_out.graph)),
        holds_(plan.tensors.size(), false) {}

  std::vector<std::string> run() {
    for (std::size_t value = 0; value < plan_.values.size(); ++value) {
      if (plan_.values[value] != kNoTensor) check_value(value);
    }
    check_places();
    for (const PlanTensor& tensor : plan_.tensors) {
      if (tensor.input) holds_[id_of(tensor)] = true;
    }
    for (const PlanStep& step : plan_.steps) replay(step);
    for (const PlanTensor& tensor : plan_.tensors) {
      const bool kept = tensor.kept && tensor.alias_of == kNoTensor;
      if (kept && !holds_[id_of(tensor)]) fault(tensor.name, "is kept but overwritten");
    }
    for (const std::string& conflict : overlapping_conflicts(plan_)) faults_.push_back(conflict);
    return faults_;
  }

 private:
  [[nodiscard]] std::size_t id_of(const PlanTensor& tensor) const {
    return static_cast<std::size_t>(&tensor - plan_.tensors.data());
  }
  void fault(const std::string& where, const std::string& what) {
    faults_.push_back(where + " " + what);
  }

  /// Layout, padding, type and size of the tensor of a value.
  void check_value(std::size_t value) {
    const Target& target = plan_.target;
    const PlanTensor& tensor = plan_.tensors[plan_.values[value]];
    const Value& known = plan_.laid_out.graph.values[value];
    const Layout& layout = tensor.layout;
    const bool input = known.producer < 0;
    const Node* producer = input ? nullptr : &plan_.laid_out.graph.nodes[known.producer];
    const bool reorder = !input && producer->op->type() == "reorder";
    const Contract contract = input ? Contract{} : producer->op->contract();
    const bool plain =
        contract.layouts == Contract::Layouts::plain || reorder || (input && !target.maps_input);
    if (shape_of(layout) != known.shape) fault(tensor.name, "has another shape than its value");
    const bool rows = known.shape.rank() == 4 && is_rows(value, contract);
    if (known.shape.rank() == 4 && !plain && !rows && layout != map_layout_of(value)) {
      fault(tensor.name, "is a map in " + text_of(layout));
    }
    const bool padded = !plain && !rows && known.shape.rank() == 4;
    if (layout.padded_channels % (padded ? target.channel_multiple : 1)) {
      fault(tensor.name, "has a pixel of " + std::to_string(layout.padded_channels) + " channels");
    }
    const DType wanted = known.type == DType::i32 || known.exact ? known.type
                         : contract.arithmetic_outputs           ? arithmetic_of(target.storage)
                                                                 : target.storage;
    if (tensor.type != wanted) fault(tensor.name, "is " + std::string(name_of(tensor.type)));
    const auto elements = static_cast<std::size_t>(span_elements(layout));
    if (tensor.bytes != elements * size_of(wanted)) fault(tensor.name, "has a wrong size");
  }

  /// True for the output of an op of rows, or of one that keeps the layout of its input.
  [[nodiscard]] bool is_rows(std::size_t value, const Contract& contract) const {
    const Layout& layout = plan_.laid_out.layouts[value];
    const bool kept =
        contract.layouts == Contract::Layouts::same || contract.layouts == Contract::Layouts::rows;
    return kept && layout == row_layout(shape_of(layout));
  }

  /// The target's layout of a value's shape, or its slice of that of a concatenation.
  [[nodiscard]] Layout map_layout_of(std::size_t value) const {
    const LaidOutGraph& laid_out = plan_.laid_out;
    const Shape& shape = laid_out.graph.values[value].shape;
    const ChannelSlice& slice = laid_out.slices[value];
    if (slice.whole < 0) return plan_.target.map_layout(shape);
    const Shape& whole = laid_out.graph.values[static_cast<std::size_t>(slice.whole)].shape;
    return channel_slice(plan_.target.map_layout(whole), slice.first, shape.c());
  }

  /// Offsets and the totals of both arenas.
  void check_places() {
    std::size_t transient = 0, input = 0;
    for (const PlanTensor& tensor : plan_.tensors) {
      if (tensor.gradient_of) continue;
      const PlanTensor& root = plan_.tensors[plan_.root(static_cast<TensorId>(id_of(tensor)))];
      const std::size_t alignment = is_slice(tensor) ? kSliceAlignment : kAlignment;
      if (tensor.offset % alignment != 0) fault(tensor.name, "is not aligned");
      if (tensor.offset < root.offset || (tensor.offset > root.offset && !is_slice(tensor))) {
        fault(tensor.name, "is outside what it aliases");
      }
      if (tensor.offset + tensor.bytes > root.offset + root.bytes) {
        fault(tensor.name, "ends past what it aliases");
      }
      std::size_t& end = root.input ? input : transient;
      end = std::max(end, root.offset + aligned(root.bytes));
    }
    if (transient != plan_.transient_bytes) fault("the transient arena", "has a wrong size");
    if (input != plan_.input_bytes) fault("the input arena", "has a wrong size");
  }

  /// True for some of the channels of another tensor.
  [[nodiscard]] bool is_slice(const PlanTensor& tensor) const {
    if (tensor.alias_of == kNoTensor || tensor.layout.rank != 4) return false;
    const Layout& whole = plan_.tensors[tensor.alias_of].layout;
    return whole.rank == 4 && tensor.layout.extent[1] < whole.extent[1];
  }
  /// The tensor whose bytes `id` fills completely: its root, or a slice of one.
  [[nodiscard]] TensorId holder(TensorId id) const {
    while (plan_.tensors[id].alias_of != kNoTensor && !is_slice(plan_.tensors[id])) {
      id = plan_.tensors[id].alias_of;
    }
    return id;
  }
  /// A whole tensor is valid if all its slices are, a slice if its whole is.
  [[nodiscard]] bool holds(TensorId id) const {
    const TensorId own = holder(id);
    if (holds_[own]) return true;
    if (is_slice(plan_.tensors[own])) return holds_[plan_.root(own)];
    std::int64_t channels = 0;
    for (std::size_t other = 0; other < plan_.tensors.size(); ++other) {
      const PlanTensor& part = plan_.tensors[other];
      if (!is_slice(part) || !holds_[other] || plan_.root(part.alias_of) != own) continue;
      channels += part.layout.extent[1];
    }
    return channels == plan_.tensors[own].layout.extent[1];
  }
  void read(TensorId id, const std::string& step) {
    if (id == kNoTensor) return;
    const auto& block = plan_.tensors[id].gradient_of;
    if (block ? block_holds(*block) : holds(id)) return;
    fault(step, "reads " + plan_.tensors[id].name + ", which was not written or is overwritten");
  }
  /// Afterwards the bytes of `id` contain it and nothing else.
  void write(TensorId id) {
    if (id == kNoTensor) return;
    if (const auto& block = plan_.tensors[id].gradient_of) {
      block_holds_.insert({block->node, block->index});
      return;
    }
    const TensorId own = holder(id);
    const PlanTensor& written = plan_.tensors[own];
    for (std::size_t other = 0; other < plan_.tensors.size(); ++other) {
      const PlanTensor& tensor = plan_.tensors[other];
      if (tensor.input != written.input || !holds_[other]) continue;
      const bool other_slice = is_slice(written) && is_slice(tensor) &&
                               tensor.alias_of == written.alias_of &&
                               tensor.alias_offset != written.alias_offset;
      if (other_slice) continue;
      const bool apart = tensor.offset >= written.offset + written.bytes ||
                         written.offset >= tensor.offset + tensor.bytes;
      if (!apart) holds_[other] = false;
    }
    holds_[own] = true;
  }
  /// Parameter gradients that are written to the block; a step must not overwrite another's.
  void write_block(const PlanStep& step, const std::string& name) {
    if (step.kind != PlanStep::Kind::op) return;
    const Node& node = plan_.laid_out.graph.nodes[step.node];
    const bool joined = node.op->contract().synced_backward;
    const bool writes = step.pass == (joined ? Pass::backward_data : Pass::backward_parameters);
    if (!writes || node.frozen) return;
    for (std::size_t index = 0; index < node.signature.parameters.size(); ++index) {
      if (!step.form.own_bias() && index == 1) continue;  // the ReLU's step writes it
      const bool apart =
          !step.parameter_gradients.empty() && step.parameter_gradients[index] != kNoTensor;
      if (apart) continue;
      const ParameterId entry{owners_[step.node], index};
      if (block_holds(entry)) fault(name, "overwrites a parameter's gradient");
      block_holds_.insert({entry.node, entry.index});
    }
  }
  [[nodiscard]] bool block_holds(const ParameterId& entry) const {
    return block_holds_.contains({entry.node, entry.index});
  }
  /// Tensors that one step accesses do not overlap, except for aliases.
  void check_apart(const std::vector<TensorId>& used, const std::string& step) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const PlanTensor& a = plan_.tensors[plan_.root(used[i])];
        const PlanTensor& b = plan_.tensors[plan_.root(used[j])];
        if (&a == &b || a.input != b.input || a.gradient_of || b.gradient_of) continue;
        if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) {
          fault(step, "uses " + a.name + " and " + b.name + " in the same bytes");
        }
      }
    }
  }

  void replay(const PlanStep& step) {
    const std::string name = name_of(plan_, step);
    const bool forward = step.pass == Pass::forward_train || step.pass == Pass::forward_eval;
    const bool copies = step.kind != PlanStep::Kind::op;
    std::vector<TensorId> reads = step.inputs, writes = step.input_gradients;
    reads.insert(reads.end(), step.output_gradients.begin(), step.output_gradients.end());
    const bool computes = forward || copies || step.pass == Pass::recompute || step.form.loss;
    auto& outputs = computes ? writes : reads;
    outputs.insert(outputs.end(), step.outputs.begin(), step.outputs.end());
    if (step.kind == PlanStep::Kind::accumulate) reads.push_back(step.outputs[0]);
    if (step.form.adds_gradient) {
      reads.insert(reads.end(), step.input_gradients.begin(), step.input_gradients.end());
    }
    (forward ? writes : reads).push_back(step.reserve);
    writes.push_back(step.workspace);
    writes.insert(writes.end(), step.parameter_gradients.begin(), step.parameter_gradients.end());
    for (const TensorId id : reads) read(id, name);
    std::vector<TensorId> used = reads;
    used.insert(used.end(), writes.begin(), writes.end());
    std::erase(used, kNoTensor);
    check_apart(used, name);
    for (const TensorId id : writes) write(id);
    write_block(step, name);
    if (step.workspace == kNoTensor) return;
    if (plan_.tensors[step.workspace].bytes > plan_.target.workspace_cap) {
      fault(name, "has a workspace above the cap");
    }
    holds_[step.workspace] = false;
  }

  const Plan& plan_;
  std::vector<NodeId> owners_;  // owner of each node's parameters
  std::vector<bool> holds_;     // by TensorId of a root: its bytes contain it now
  std::set<std::pair<NodeId, std::size_t>> block_holds_;  // gradients that the block contains, by
                                                          // owner and index of the parameter
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> faults_of(const Plan& plan) { return Rules(plan).run(); }

}  // namespace trainyard::test
