// A network as boxes, and its drawing: blocks as one box each, what they contain beside them.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace trainyard {

/// What a box is coloured by; of several layers in a box the first of these counts.
enum class BoxKind {
  weights,     // a layer that multiplies by parameters
  parameters,  // another layer with parameters, as batch norm
  join,        // a join of several values
  block,
  plain,
};

/// A layer or a block.
struct FigureBox {
  BoxKind kind = BoxKind::plain;
  std::vector<std::string> lines;  // "conv 3×3 /2", "[96, 16, 16]"
  std::string tip;                 // its path, and what else does not fit
  bool chained = true;             // reads what the box above it gives
  int times = 1;                   // equal ones, one after another
  /// Branches of a join, drawn above it side by side; an empty one is a line.
  std::vector<std::vector<FigureBox>> branches;
};

/// What blocks of one structure contain.
struct FigureBlock {
  std::string title;                // the path of the first one, whose shapes are shown
  std::vector<std::string> others;  // paths
  std::vector<FigureBox> column;
};

struct Figure {
  std::string title, totals;
  std::vector<FigureBox> network;   // from its input on
  std::vector<FigureBlock> blocks;  // in the order of the network
};

/// Equal items one after another become one box. A block of at most 4 layers in a row is a box that
/// names them; others get a FigureBlock each, unless they have the ops, kernels, strides and
/// branches of an earlier one.
[[nodiscard]] Figure figure_of(const Graph& graph, const std::string& title);

/// The figure in Graphviz's language: the network, and each block in a frame.
[[nodiscard]] std::string dot_text(const Figure& figure);

// The nesting of a network's layers in blocks and branches, from their paths.

/// A layer, or a block of layers.
struct OutlineItem {
  std::string path;                // "stage2.unit3"
  NodeId first = 0, last = 0;      // its nodes, both included; of a layer the last is its own
  std::vector<OutlineItem> items;  // items of a block; empty: a layer
  /// Branches of a joining layer, by index: "add1.0", "add1.1"; an empty one passes on what it
  /// reads.
  std::vector<std::vector<OutlineItem>> branches;
};

/// The items of the network's file, in order.
[[nodiscard]] std::vector<OutlineItem> outline(const Graph& graph);

}  // namespace trainyard
