#include <algorithm>
#include <set>

#include "graph/masks.h"
#include "graph/network_input.h"
#include "graph/summary.h"

namespace trainyard {
namespace {

/// True if the node reads only the value of the item before it, so that it needs no `from:`.
bool is_chained(const Graph& graph, std::size_t index) {
  const Node& node = graph.nodes[index];
  const ValueId before = index == 0 ? graph.inputs.at(0) : graph.nodes[index - 1].outputs.at(0);
  return node.inputs.size() == 1 && node.inputs[0] == before;
}

/// The network's input has no item that could name it: an identity takes that role.
constexpr const char* kInputName = "input";

/// A named output keeps its name; others are named by the path of their node.
std::string name_of(const Graph& graph, ValueId value) {
  const auto output = std::ranges::find(graph.outputs, value, &NamedOutput::value);
  if (output != graph.outputs.end()) return output->name;
  if (value == graph.mask) return kMaskName;
  const NodeId producer = graph.values.at(static_cast<std::size_t>(value)).producer;
  return producer < 0 ? kInputName : graph.nodes[static_cast<std::size_t>(producer)].path;
}

std::string from_text(const Graph& graph, const Node& node) {
  std::string text;
  for (const ValueId input : node.inputs) {
    text += (text.empty() ? "" : ", ") + name_of(graph, input);
  }
  return node.inputs.size() == 1 ? text : "[" + text + "]";
}

/// Names of values that appear in a `from:`, `share:` or `outputs:`.
std::set<std::string> named_items(const Graph& graph) {
  std::set<std::string> named;
  for (const NamedOutput& output : graph.outputs) named.insert(output.name);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.parameters_of.empty()) named.insert(node.parameters_of);
    if (is_chained(graph, i)) continue;
    for (const ValueId input : node.inputs) named.insert(name_of(graph, input));
  }
  return named;
}

std::string item_text(const Graph& graph, std::size_t index, const std::set<std::string>& named) {
  const Node& node = graph.nodes[index];
  const std::string attributes = node.op->attributes();
  const bool plain = attributes == "{}";
  const bool from = !is_chained(graph, index);
  const bool share = !node.parameters_of.empty();
  const std::string name = name_of(graph, node.outputs.at(0));
  const bool as = named.count(name) != 0;
  const std::string type(node.op->type());
  if (plain && !from && !share && !as) return "  - " + type + "\n";
  std::string text = "  - " + type + ":" + (plain ? "" : " " + attributes) + "\n";
  if (from) text += "    from: " + from_text(graph, node) + "\n";
  if (share) text += "    share: " + node.parameters_of + "\n";
  if (as) text += "    as: " + name + "\n";
  return text;
}

}  // namespace

std::string expanded_yaml(const Graph& graph) {
  std::string text = "profile: keras2\n";  // attributes() has its conventions
  text += "input: " + input_text(graph) + "\nlayers:\n";
  const std::set<std::string> named = named_items(graph);
  if (named.count(kInputName) != 0) {
    text += "  - identity:\n    as: " + std::string(kInputName) + "\n";
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) text += item_text(graph, i, named);
  if (!graph.closing_activation.empty() && graph.output_is_logits) {
    text += "  - " + graph.closing_activation + "\n";
  }
  std::string outputs;
  for (const NamedOutput& output : graph.outputs) {
    outputs += (outputs.empty() ? "" : ", ") + output.name;
  }
  return outputs.empty() ? text : text + "outputs: [" + outputs + "]\n";
}

}  // namespace trainyard
