#include "graph/summary.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.h"
#include "graph/masks.h"
#include "graph/network_input.h"

namespace trainyard {

namespace {

SummaryRow row_of(const Graph& graph, const Node& node) {
  SummaryRow row;
  row.path = node.path;
  row.type = node.op->type();
  row.attributes = node.op->attributes();
  row.where = node.where;
  if (!node.signature.outputs.empty()) row.output = node.signature.outputs[0];
  row.parameters_of = node.parameters_of;
  for (const ParameterSpec& parameter : own_parameters(node)) {
    row.parameters += parameter.shape.elements();
  }
  for (const StatisticSpec& statistic : node.signature.statistics) {
    row.statistics += statistic.shape.elements();
  }
  const std::int64_t batch =
      graph.values.at(static_cast<std::size_t>(graph.inputs.at(0))).shape.n();
  row.multiply_adds = node.signature.multiply_adds / batch;
  for (const Shape& shape : node.signature.outputs) {
    row.activation_bytes += static_cast<std::size_t>(shape.elements()) * size_of(DType::f32);
  }
  return row;
}

/// "[16, 32, 32]": the shape of one sample.
std::string sample_text(const Shape& shape) {
  std::string text;
  for (int axis = 1; axis < shape.rank(); ++axis) {
    text += (axis > 1 ? ", " : "") + std::to_string(shape[axis]);
  }
  return "[" + text + "]";
}

constexpr std::size_t kColumns = 6;
using Line = std::array<std::string, kColumns>;

std::vector<Line> table_lines(const Summary& summary) {
  std::vector<Line> lines{{"layer", "type", "output", "parameters", "multiply-adds", "KiB"}};
  for (const SummaryRow& row : summary.rows) {
    const std::string remark = row.with_loss ? " (computed with the loss)"
                               : row.parameters_of.empty()
                                   ? ""
                                   : " (parameters of " + row.parameters_of + ")";
    lines.push_back({row.path, row.type + remark, sample_text(row.output),
                     with_separators(row.parameters + row.statistics),
                     with_separators(row.multiply_adds),
                     fixed_text(static_cast<double>(row.activation_bytes) / 1024, 1)});
  }
  return lines;
}

/// Text columns left-aligned, numbers right-aligned, two spaces between.
std::string aligned(const std::vector<Line>& lines) {
  std::array<std::size_t, kColumns> width{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::string blanks(width[i] - line[i].size(), ' ');
      text += (i > 0 ? "  " : "") + (i < 3 ? line[i] + blanks : blanks + line[i]);
    }
    text += '\n';
  }
  return text;
}

/// "stage1.unit2" of "stage1.unit2.add1.0.conv1" for 2.
std::string path_to_depth(const std::string& path, int depth) {
  std::size_t end = 0;
  for (; depth > 0 && end != std::string::npos; --depth) {
    end = path.find('.', end == 0 ? 0 : end + 1);
  }
  return path.substr(0, end);
}

/// Makes `row` that of `block`, with one more layer.
void add_to(SummaryRow& row, const SummaryRow& layer, const std::string& block) {
  row.path = block;
  row.type = count_text(++row.layers, "layer");
  row.attributes = row.parameters_of = "";
  row.with_loss = false;
  row.output = layer.output;
  row.parameters += layer.parameters;
  row.statistics += layer.statistics;
  row.multiply_adds += layer.multiply_adds;
  row.activation_bytes += layer.activation_bytes;
}

std::string json_shape(const Shape& shape) { return shape.text(); }

std::string json_row(const SummaryRow& row) {
  return "{\"path\": " + json_quoted(row.path) + ", \"type\": " + json_quoted(row.type) +
         ", \"attributes\": " + json_quoted(row.attributes) +
         ", \"output\": " + json_shape(row.output) +
         ", \"parameters\": " + std::to_string(row.parameters) +
         ", \"parameters_of\": " + json_quoted(row.parameters_of) +
         ", \"statistics\": " + std::to_string(row.statistics) +
         ", \"multiply_adds\": " + std::to_string(row.multiply_adds) +
         ", \"activation_bytes\": " + std::to_string(row.activation_bytes) +
         ", \"with_loss\": " + (row.with_loss ? "true" : "false") +
         ", \"line\": " + std::to_string(row.where.line) + "}";
}

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

Summary summarise(const Graph& graph, bool closing_with_loss) {
  Summary summary;
  summary.input = graph.values.at(static_cast<std::size_t>(graph.inputs.at(0))).shape;
  summary.input_text = input_text(graph);
  summary.vocabulary = graph.vocabulary;
  for (const Node& node : graph.nodes) {
    summary.rows.push_back(row_of(graph, node));
    if (closing_with_loss && &node == &graph.nodes.back()) {
      summary.rows.back().with_loss = true;
      summary.rows.back().activation_bytes = 0;
    }
    summary.activation_bytes += summary.rows.back().activation_bytes;
  }
  summary.totals = totals(graph);
  return summary;
}

Summary folded(Summary summary, int depth) {
  const std::vector<SummaryRow> layers = std::exchange(summary.rows, {});
  for (const SummaryRow& layer : layers) {
    const std::string block = path_to_depth(layer.path, depth);
    const bool inside =
        !summary.rows.empty() && path_to_depth(summary.rows.back().path, depth) == block;
    if (inside) {
      add_to(summary.rows.back(), layer, block);
    } else {
      summary.rows.push_back(layer);
    }
  }
  return summary;
}

std::string summary_text(const Summary& summary) {
  const std::int64_t trainable = summary.totals.parameters_trainable;
  return "input " + summary.input_text + ", batch " + std::to_string(summary.input.n()) + "\n\n" +
         aligned(table_lines(summary)) + "\nparameters     " +
         with_separators(summary.totals.parameters_total) + " (" + with_separators(trainable) +
         " trainable)\nmultiply-adds  " + with_separators(summary.totals.multiply_adds) +
         " per sample, forward\nactivations    " +
         fixed_text(static_cast<double>(summary.activation_bytes) / (1024 * 1024), 1) +
         " MiB per batch of " + std::to_string(summary.input.n()) + "\n";
}

std::string summary_json(const Summary& summary) {
  std::string text = "{\n  \"input\": " + json_shape(summary.input) +
                     ",\n  \"vocabulary\": " + std::to_string(summary.vocabulary) +
                     ",\n  \"layers\": [\n";
  for (std::size_t i = 0; i < summary.rows.size(); ++i) {
    text += "    " + json_row(summary.rows[i]) + (i + 1 < summary.rows.size() ? ",\n" : "\n");
  }
  const GraphTotals& sums = summary.totals;
  return text + "  ],\n  \"parameters\": " + std::to_string(sums.parameters_total) +
         ",\n  \"parameters_trainable\": " + std::to_string(sums.parameters_trainable) +
         ",\n  \"multiply_adds\": " + std::to_string(sums.multiply_adds) +
         ",\n  \"activation_bytes\": " + std::to_string(summary.activation_bytes) + "\n}\n";
}

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
