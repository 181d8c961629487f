// Merges neighbouring ops that one executor computes in one pass over memory.
#pragma once

#include "graph/graph.h"
#include "plan/target.h"

namespace trainyard {

/// Where nothing else reads the value in between:
///   bn + relu, add + relu   become one node at the first one's path;
///   bn + add + relu         with two branches become one bn in the position of the sum; if both
///                           branches end in bn, the later one.
/// The last requires maps in whole multiples of the target's channels. The results are
/// bit-identical, except for fewer roundings where an executor keeps the value in between in a
/// register.
[[nodiscard]] Graph fuse(const Graph& graph, const Target& target);

}  // namespace trainyard
