#include "graph/graph.h"

#include <limits>
#include <utility>

namespace trainyard {
namespace {

/// More elements than any machine can hold; far below overflow in later products.
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

bool too_large(const Shape& shape) { return shape.elements() > kMostElements; }

/// a + b, saturated at the largest integer.
std::int64_t held_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

bool too_large(const Signature& signature) {
  for (const Shape& shape : signature.outputs) {
    if (too_large(shape)) return true;
  }
  for (const ParameterSpec& parameter : signature.parameters) {
    if (too_large(parameter.shape)) return true;
  }
  return false;
}

/// "; input: [2, 3, 8, 8] from line 7 ('conv1')".
std::string inputs_text(const Graph& graph, const Node& node) {
  std::string text = node.inputs.size() > 1 ? "; inputs: " : "; input: ";
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& value = graph.values.at(static_cast<std::size_t>(node.inputs[i]));
    text += (i > 0 ? ", " : "") + value.shape.text();
    if (value.producer < 0) {
      text += " (the network's input)";
      continue;
    }
    const Node& producer = graph.nodes.at(static_cast<std::size_t>(value.producer));
    text += " from ";
    if (producer.where.known()) text += "line " + std::to_string(producer.where.line) + " ";
    text += "('" + producer.path + "')";
  }
  return text;
}

void infer_or_throw(const Graph& graph, Node& node) {
  const std::string failure = infer_signature(graph, node);
  if (failure.empty()) return;
  const std::string place = node.where.known() ? node.where.text() + ": " : "";
  throw config_error(place + "layer '" + node.path + "': " + failure);
}

}  // namespace

std::span<const ParameterSpec> own_parameters(const Node& node) {
  if (!node.parameters_of.empty()) return {};
  return node.signature.parameters;
}

std::string infer_signature(const Graph& graph, Node& node) {
  std::vector<Shape> shapes;
  for (const ValueId input : node.inputs) {
    shapes.push_back(graph.values.at(static_cast<std::size_t>(input)).shape);
  }
  const int arity = node.op->arity();
  if (arity >= 0 && static_cast<std::size_t>(arity) != shapes.size()) {
    return "takes " + std::to_string(arity) + " inputs, found " + std::to_string(shapes.size());
  }
  try {
    node.signature = node.op->infer(shapes);
  } catch (const ShapeError& error) {
    return error.what() + inputs_text(graph, node);
  }
  if (too_large(node.signature)) {
    return "a tensor of more than 2^40 elements" + inputs_text(graph, node);
  }
  return "";
}

NodeId append_inferred(Graph& graph, Node node) {
  const auto id = static_cast<NodeId>(graph.nodes.size());
  const bool passes_on = node.op->contract().alias_forward;
  const DType type = passes_on ? graph.values.at(node.inputs.at(0)).type : DType::f32;
  for (const Shape& shape : node.signature.outputs) {
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back({shape, id, type});
  }
  graph.nodes.push_back(std::move(node));
  return id;
}

NodeId append_node(Graph& graph, Node node) {
  infer_or_throw(graph, node);
  return append_inferred(graph, std::move(node));
}

Graph with_batch(const Graph& graph, std::int64_t batch) {
  Graph result = graph;
  for (const ValueId input : result.inputs) {
    Shape& shape = result.values.at(static_cast<std::size_t>(input)).shape;
    shape = shape.with(0, batch);
  }
  for (Node& node : result.nodes) {
    infer_or_throw(result, node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      result.values.at(static_cast<std::size_t>(node.outputs[i])).shape =
          node.signature.outputs.at(i);
    }
  }
  return result;
}

std::vector<int> count_readers(const Graph& graph) {
  std::vector<int> readers(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId input : node.inputs) ++readers[input];
  }
  if (graph.output >= 0) ++readers[graph.output];
  for (const NamedOutput& output : graph.outputs) ++readers[output.value];
  return readers;
}

GraphTotals totals(const Graph& graph) {
  GraphTotals sums;
  for (const Node& node : graph.nodes) {
    for (const ParameterSpec& parameter : own_parameters(node)) {
      sums.parameters_total += parameter.shape.elements();
      if (!node.frozen) sums.parameters_trainable += parameter.shape.elements();
    }
    for (const StatisticSpec& statistic : node.signature.statistics) {
      sums.parameters_total += statistic.shape.elements();
    }
    sums.multiply_adds = held_sum(sums.multiply_adds, node.signature.multiply_adds);
  }
  if (!graph.inputs.empty()) {
    sums.multiply_adds /= graph.values.at(static_cast<std::size_t>(graph.inputs[0])).shape.n();
  }
  return sums;
}

}  // namespace trainyard
