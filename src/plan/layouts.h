// Where each value of a graph lies in memory, with the reorders that this takes.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/target.h"

namespace trainyard {

/// Where a value lies in another one: channels from `first` on of `whole`, a concatenation.
struct ChannelSlice {
  ValueId whole = -1;  // -1: the value has memory of its own
  std::int64_t first = 0;
};

/// A graph whose values have layouts; nodes of type "reorder" stand where layouts meet.
struct LaidOutGraph {
  Graph graph;
  std::vector<Layout> layouts;       // by ValueId of `graph`
  std::vector<ChannelSlice> slices;  // by ValueId of `graph`
  std::vector<ValueId> renamed;      // ValueId before to ValueId in `graph`, -1 for unused values
};

/// The network's input is plain, or a map of the target where that says so. Convolutions and
/// poolings give the target's layout, plain ops take and give plain tensors, the
/// others keep their first input's layout. Branches that nothing but their concatenation reads are
/// written straight into it, where their ops can write slices and all channels come in whole
/// multiples of the target's: such a concatenation takes no step. Pure.
[[nodiscard]] LaidOutGraph assign_layouts(const Graph& graph, const Target& target);

}  // namespace trainyard
