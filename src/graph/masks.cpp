#include "graph/masks.h"

#include <algorithm>
#include <span>
#include <utility>

namespace trainyard {
namespace {

/// The masks of a node's sequences.
struct FoundMask {
  ValueId mask = -1;  // -1: they have none
  bool several = false;
};

FoundMask mask_of_inputs(const Graph& graph, const Node& node) {
  FoundMask found;
  const std::size_t own = node.op->contract().masked && node.inputs.size() > 1 ? 1 : 0;
  for (const ValueId input : std::span(node.inputs).first(node.inputs.size() - own)) {
    const auto known = graph.masks.find(input);
    if (known == graph.masks.end()) continue;
    found.several = found.several || (found.mask >= 0 && found.mask != known->second);
    found.mask = known->second;
  }
  return found;
}

}  // namespace

void add_mask_input(Graph& graph) {
  const Shape& samples = graph.values[graph.inputs[0]].shape;
  const std::int64_t steps = samples.rank() == 2 ? samples.c() : samples.w();
  graph.mask = static_cast<ValueId>(graph.values.size());
  graph.masks[graph.inputs[0]] = graph.mask;
  graph.values.push_back({.shape = {samples.n(), steps}, .type = DType::i32});
  graph.inputs.push_back(graph.mask);
}

void drop_unread_mask(Graph& graph) {
  const bool read = std::ranges::any_of(graph.nodes, [&](const Node& node) {
    return std::ranges::find(node.inputs, graph.mask) != node.inputs.end();
  });
  if (!read) std::erase(graph.inputs, graph.mask);
}

std::string give_mask(const Graph& graph, Node& node) {
  const auto [mask, several] = mask_of_inputs(graph, node);
  if (several) return "joins sequences of which different steps are padding";
  const Contract contract = node.op->contract();
  if (contract.masks_zero && mask >= 0) {
    return "masks token 0, but the network's input has lengths, which mask already; leave "
           "'mask_zero' or 'lengths' out";
  }
  if (mask < 0) return "";
  if (contract.masked) {
    if (node.inputs.size() == 1) node.inputs.push_back(mask);
    return "";
  }
  if (OpPtr masked = node.op->with_mask()) {
    node.op = std::move(masked);
    node.inputs.push_back(mask);
    return "";
  }
  if (contract.keeps_steps) return "";
  return "mixes the steps of a sequence, of which some are padding; lstm, gru, simple_rnn and "
         "pool_steps leave these out, and only layers that treat each step by itself may come "
         "before them";
}

std::string order_fault(const Graph& graph, const Node& node) {
  const Contract contract = node.op->contract();
  const bool sequence = node.signature.outputs[0].rank() == 4;
  if (!contract.masked || contract.keeps_steps || !sequence) return "";
  if (!graph.masks.contains(node.inputs[0])) return "";
  return "puts out its states from the last step to the first, which the mask of its input does "
         "not fit; write 'in_order: true', or leave 'backwards' or 'return_sequences' out";
}

void pass_mask(Graph& graph, const Node& node) {
  const Contract contract = node.op->contract();
  if (!contract.keeps_steps) return;
  ValueId mask = mask_of_inputs(graph, node).mask;
  if (contract.masks_zero) mask = without_aliases(graph, node.inputs[0]);
  if (contract.masked) mask = without_aliases(graph, node.inputs.back());
  if (mask >= 0) graph.masks[node.outputs[0]] = mask;
}

ValueId without_aliases(const Graph& graph, ValueId value) {
  for (NodeId producer = graph.values[value].producer; producer >= 0;
       producer = graph.values[value].producer) {
    const Node& node = graph.nodes[static_cast<std::size_t>(producer)];
    if (!node.op->contract().alias_forward) break;
    value = node.inputs[0];
  }
  return value;
}

}  // namespace trainyard
