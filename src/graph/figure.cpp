#include "graph/figure.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "config/load.h"
#include "graph/network_input.h"

namespace trainyard {

namespace {

using Series = std::vector<OutlineItem>;

/// "[16, 32, 32]": the shape of one sample.
std::string shape_of_sample(const Shape& shape) {
  std::vector<std::string> extents;
  for (int axis = 1; axis < shape.rank(); ++axis) extents.push_back(std::to_string(shape[axis]));
  return "[" + joined(extents) + "]";
}

/// "3×3" for [3, 3]; "" for anything but a list of two.
std::string pair_text(const config::Node* value) {
  if (value == nullptr || value->items.size() != 2) return "";
  return value->items[0].text + "×" + value->items[1].text;
}

/// The type of a layer with its kernel, stride, groups and rate: "conv 3×3 /2".
std::string label_of(const Node& node) {
  const config::Node attributes = config::parse_yaml(node.op->attributes(), node.path);
  std::string label(node.op->type());
  for (const char* key : {"kernel", "size"}) {
    const std::string size = pair_text(attributes.find(key));
    if (!size.empty()) label += " " + size;
  }
  const config::Node* const stride = attributes.find("stride");
  const std::string step = pair_text(stride);
  if (!step.empty() && step != "1×1") {
    const bool square = stride->items[0].text == stride->items[1].text;
    label += " /" + (square ? stride->items[0].text : step);
  }
  const config::Node* const groups = attributes.find("groups");
  if (groups != nullptr && groups->integer > 1) label += " groups " + groups->text;
  const config::Node* const rate = attributes.find("rate");
  if (rate != nullptr && rate->is_number()) label += " " + rate->text;
  return label;
}

BoxKind kind_of(const Node& node) {
  if (node.inputs.size() > 1) return BoxKind::join;
  if (node.signature.multiply_adds > 0) return BoxKind::weights;
  return node.signature.parameters.empty() ? BoxKind::plain : BoxKind::parameters;
}

/// What the nodes from `first` to `last` read of those before them, and of the network's inputs,
/// each once, in order.
std::vector<ValueId> values_read(const Graph& graph, NodeId first, NodeId last) {
  std::vector<ValueId> read;
  for (NodeId id = first; id <= last; ++id) {
    for (const ValueId value : graph.nodes[static_cast<std::size_t>(id)].inputs) {
      const bool inside = graph.values[static_cast<std::size_t>(value)].producer >= first;
      if (!inside && std::ranges::find(read, value) == read.end()) read.push_back(value);
    }
  }
  return read;
}

class FigureMaker {
 public:
  explicit FigureMaker(const Graph& graph) : graph_(graph) {}

  /// The boxes of items that begin with `read`, the value above them.
  std::vector<FigureBox> column(const Series& items, ValueId read) {
    std::vector<FigureBox> boxes;
    for (std::size_t i = 0; i < items.size(); ++i) {
      FigureBox next = box(items[i], read);
      read = output_of(items[i]);
      const bool again = i > 0 && equal(items[i - 1], items[i]) &&
                         next.lines.size() == boxes.back().lines.size() && next.chained;
      if (!again) {
        boxes.push_back(std::move(next));
        continue;
      }
      FigureBox& former = boxes.back();
      if (former.kind == BoxKind::block) {
        const std::string first = split(former.lines[0], ' ').front();
        former.lines[0] = first + " … " + next.lines[0];
      }
      former.tip += ", " + next.tip;
      ++former.times;
    }
    return boxes;
  }
  std::vector<FigureBlock> take_blocks() { return std::move(blocks_); }

 private:
  [[nodiscard]] const Node& node(NodeId id) const {
    return graph_.nodes[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] ValueId output_of(const OutlineItem& item) const {
    return node(item.last).outputs.at(0);
  }
  FigureBox box(const OutlineItem& item, ValueId read) {
    FigureBox made{.tip = item.path};
    const std::string shape =
        shape_of_sample(graph_.values[static_cast<std::size_t>(output_of(item))].shape);
    if (item.items.empty()) {
      made.kind = kind_of(node(item.last));
      made.lines = {label_of(node(item.last)), shape};
    } else if (fits_a_box(item)) {
      std::vector<std::string> labels;
      for (const OutlineItem& inner : item.items) {
        labels.push_back(label_of(node(inner.last)));
        made.kind = std::min(made.kind, kind_of(node(inner.last)));
      }
      made.lines = {joined(labels), shape};
    } else {
      made.kind = BoxKind::block;
      made.lines = {split(item.path, '.').back(), shape};
      add_block(item);
    }
    const ValueId from = values_read(graph_, item.first, item.last).at(0);
    for (const Series& branch : item.branches) made.branches.push_back(column(branch, from));
    tell_edges(item, read, made);
    return made;
  }
  /// Says what the item reads besides the value above it, and that it is an output of the network.
  void tell_edges(const OutlineItem& item, ValueId read, FigureBox& box) const {
    const std::vector<ValueId> values = values_read(graph_, item.first, item.last);
    box.chained = std::ranges::find(values, read) != values.end();
    std::vector<std::string> others;
    for (const ValueId value : values) {
      if (value != read) others.push_back(name_of(value, item.path));
    }
    if (!others.empty()) box.lines.push_back("reads " + joined(others));
    const bool inside = item.path.find('.') != std::string::npos;  // in a block, for all like it
    for (const NamedOutput& output : graph_.outputs) {
      if (inside) break;
      const NodeId producer = graph_.values[static_cast<std::size_t>(output.value)].producer;
      if (producer == item.last) box.lines.push_back("output " + output.name);
    }
  }
  void add_block(const OutlineItem& item) {
    const auto [found, is_new] = by_structure_.try_emplace(structure(item), blocks_.size());
    if (!is_new) {
      blocks_[found->second].others.push_back(item.path);
      return add_blocks_of(item);
    }
    const std::size_t own = blocks_.size();
    blocks_.push_back({.title = item.path});
    const ValueId read = values_read(graph_, item.first, item.last).at(0);
    std::vector<FigureBox> inner = column(item.items, read);  // adds to blocks_
    blocks_[own].column = std::move(inner);
  }
  /// Adds blocks within an item whose content is not drawn again: names for known structures.
  void add_blocks_of(const OutlineItem& item) {
    const auto add = [&](const Series& series) {
      for (const OutlineItem& inner : series) {
        const bool block = !inner.items.empty() && !fits_a_box(inner);
        block ? add_block(inner) : add_blocks_of(inner);
      }
    };
    add(item.items);
    for (const Series& branch : item.branches) add(branch);
  }
  /// A few layers one after another.
  [[nodiscard]] bool fits_a_box(const OutlineItem& item) const {
    constexpr std::size_t kMost = 4;
    return item.items.size() <= kMost &&
           std::ranges::all_of(item.items, [&](const OutlineItem& inner) {
             return inner.items.empty() && inner.branches.empty() &&
                    node(inner.last).inputs.size() == 1;
           });
  }
  /// True for the same layers with the same outputs.
  [[nodiscard]] bool equal(const OutlineItem& one, const OutlineItem& two) const {
    if (one.last - one.first != two.last - two.first) return false;
    for (NodeId i = 0; i <= one.last - one.first; ++i) {
      const Node &a = node(one.first + i), &b = node(two.first + i);
      const bool same = a.op->type() == b.op->type() && a.op->attributes() == b.op->attributes() &&
                        a.signature.outputs == b.signature.outputs;
      if (!same) return false;
    }
    return structure(one) == structure(two);
  }
  /// Ops, kernels, strides and branches; blocks of equal structure are drawn once.
  [[nodiscard]] std::string structure(const OutlineItem& item) const {
    std::string text;
    for (NodeId id = item.first; id <= item.last; ++id) {
      text += node(id).path.substr(item.path.size()) + " " + label_of(node(id)) + " " +
              std::to_string(node(id).inputs.size()) + "\n";
    }
    return text;
  }
  /// The producer of a value as the reader would call it: its path up to the first part in which
  /// the two differ, without what they share.
  [[nodiscard]] std::string name_of(ValueId value, const std::string& reader) const {
    const NodeId producer = graph_.values[static_cast<std::size_t>(value)].producer;
    if (producer < 0) return "input";
    const std::vector<std::string> own = split(reader, '.'),
                                   other = split(node(producer).path, '.');
    std::size_t part = 0;
    while (part + 1 < other.size() && part < own.size() && other[part] == own[part]) ++part;
    return other[part];
  }

  const Graph& graph_;
  std::vector<FigureBlock> blocks_;
  std::map<std::string, std::size_t> by_structure_;  // indices into blocks_
};

class Outliner {
 public:
  explicit Outliner(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) parts_.push_back(split(node.path, '.'));
  }

  /// The items that the nodes [begin, end) are at this depth, to which their paths agree.
  [[nodiscard]] std::vector<OutlineItem> items(NodeId begin, NodeId end, std::size_t depth) const {
    std::vector<OutlineItem> found;
    for (NodeId next = begin; begin < end; begin = next) {
      next = end_of(begin, end, depth);
      found.push_back(item(begin, next, depth));
    }
    return found;
  }

 private:
  [[nodiscard]] const std::vector<std::string>& parts(NodeId node) const {
    return parts_[static_cast<std::size_t>(node)];
  }
  /// The end of the nodes from `begin` with the same part at this depth.
  [[nodiscard]] NodeId end_of(NodeId begin, NodeId end, std::size_t depth) const {
    NodeId next = begin;
    while (next < end && parts(next)[depth] == parts(begin)[depth]) ++next;
    return next;
  }

  [[nodiscard]] OutlineItem item(NodeId begin, NodeId end, std::size_t depth) const {
    OutlineItem made{.first = begin, .last = end - 1};
    made.path = joined(std::span(parts(begin)).first(depth + 1), ".");
    const bool layer = parts(made.last).size() == depth + 1;
    if (!layer) {
      made.items = items(begin, end, depth + 1);
    } else if (begin < made.last) {
      made.branches = branches(begin, made.last, depth + 1);
    }
    return made;
  }

  /// Branches of the joining layer `join`.
  [[nodiscard]] std::vector<std::vector<OutlineItem>> branches(NodeId begin, NodeId join,
                                                               std::size_t depth) const {
    std::vector<std::vector<OutlineItem>> made(
        graph_.nodes[static_cast<std::size_t>(join)].inputs.size());
    for (NodeId next = begin; begin < join; begin = next) {
      next = end_of(begin, join, depth);
      const auto index = static_cast<std::size_t>(parse_integer(parts(begin)[depth]).value_or(0));
      if (index >= made.size()) made.resize(index + 1);
      made[index] = items(begin, next, depth + 1);
    }
    return made;
  }

  const Graph& graph_;
  std::vector<std::vector<std::string>> parts_;  // parts of each node's path
};

}  // namespace

Figure figure_of(const Graph& graph, const std::string& title) {
  FigureMaker maker(graph);
  const GraphTotals sums = totals(graph);
  Figure figure{.title = title};
  figure.totals = with_separators(sums.parameters_total) + " parameters, " +
                  with_separators(sums.multiply_adds) + " multiply-adds per sample";
  figure.network.push_back({.lines = {"input", input_text(graph)}, .tip = "input"});
  for (FigureBox& box : maker.column(outline(graph), graph.inputs.at(0))) {
    figure.network.push_back(std::move(box));
  }
  figure.blocks = maker.take_blocks();
  return figure;
}

std::vector<OutlineItem> outline(const Graph& graph) {
  return Outliner(graph).items(0, static_cast<NodeId>(graph.nodes.size()), 0);
}

}  // namespace trainyard
