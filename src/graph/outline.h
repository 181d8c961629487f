// The nesting of a network's layers in blocks and branches, from their paths.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace trainyard {

/// A layer, or a block of layers.
struct OutlineItem {
  std::string path;                // "stage2.unit3"
  NodeId first = 0, last = 0;      // its nodes, both included; of a layer the last is its own
  std::vector<OutlineItem> items;  // of a block; empty: a layer
  /// Of a layer that joins branches, by index: "add1.0", "add1.1"; an empty one passes on what it
  /// reads.
  std::vector<std::vector<OutlineItem>> branches;
};

/// The items of the network's file, in order.
[[nodiscard]] std::vector<OutlineItem> outline(const Graph& graph);

/// What the nodes from `first` to `last` read of those before them, and of the network's inputs,
/// each once, in order.
[[nodiscard]] std::vector<ValueId> values_read(const Graph& graph, NodeId first, NodeId last);

}  // namespace trainyard
