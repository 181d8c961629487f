// Merges neighbouring ops that one executor computes in one pass over memory.
#pragma once

#include "graph/graph.h"

namespace trainyard {

/// bn + relu and add + relu become one node (at the first one's path), where nothing else reads the
/// value between them. Same results to the last bit as without, but for the fewer roundings where
/// an executor keeps the value between in a register.
[[nodiscard]] Graph fuse(const Graph& graph);

}  // namespace trainyard
