// Merges neighbouring ops that one executor computes in one pass over memory.
#pragma once

#include "graph/graph.h"
#include "plan/target.h"

namespace trainyard {

/// Where nothing else reads the value between:
///   bn + relu, add + relu   become one node at the first one's path;
///   bn + add + relu         with two branches become one bn at the place of the sum; where both
///                           branches end in bn, the later one.
/// The last wants maps in whole multiples of the target's channels. Same results to the last bit as
/// without, but for the fewer roundings where an executor keeps the value between in a register.
[[nodiscard]] Graph fuse(const Graph& graph, const Target& target);

}  // namespace trainyard
