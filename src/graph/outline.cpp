#include "graph/outline.h"

#include <algorithm>

#include "base/text.h"

namespace trainyard {
namespace {

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

  /// Of the joining layer `join`.
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
  std::vector<std::vector<std::string>> parts_;  // of each node's path
};

}  // namespace

std::vector<OutlineItem> outline(const Graph& graph) {
  return Outliner(graph).items(0, static_cast<NodeId>(graph.nodes.size()), 0);
}

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

}  // namespace trainyard
