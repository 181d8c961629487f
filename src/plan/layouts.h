// The layout of each value of a graph, with the reorders that this needs.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/target.h"

namespace trainyard {

/// The slice that holds a value: channels of `whole`, a concatenation, starting at `first`.
struct ChannelSlice {
  ValueId whole = -1;  // -1: the value has memory of its own
  std::int64_t first = 0;
};

/// A graph whose values have layouts; nodes of type "reorder" convert where layouts differ.
struct LaidOutGraph {
  Graph graph;
  std::vector<Layout> layouts;       // by ValueId of `graph`
  std::vector<ChannelSlice> slices;  // by ValueId of `graph`
  std::vector<ValueId> renamed;      // ValueId before to ValueId in `graph`, -1 for unused values
};

/// The network's input is plain, or a feature map if the target says so. Convolutions and poolings
/// produce the target's layout, plain ops take and produce plain tensors and ops of rows those of
/// row_layout(), the others use the layout of their first input. Branches that only their
/// concatenation reads are written straight into it if their ops can write slices and all channel
/// counts are whole multiples of the target's: such a concatenation needs no step. Pure.
[[nodiscard]] LaidOutGraph assign_layouts(const Graph& graph, const Target& target);

}  // namespace trainyard
