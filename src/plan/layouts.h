// Where each value of a graph lies in memory, with the reorders that this takes.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/target.h"

namespace trainyard {

/// A graph whose values have layouts; nodes of type "reorder" stand where layouts meet.
struct LaidOutGraph {
  Graph graph;
  std::vector<Layout> layouts;   // by ValueId of `graph`
  std::vector<ValueId> renamed;  // ValueId before to ValueId in `graph`, -1 for unused values
};

/// The network's input is plain, or a map of the target where that says so. Convolutions and
/// poolings give the target's layout, plain ops take and give plain tensors, the
/// others keep their first input's layout. Pure.
[[nodiscard]] LaidOutGraph assign_layouts(const Graph& graph, const Target& target);

}  // namespace trainyard
