// Masks of sequences in a network: which of their steps are padding.
//
// A mask is i32 [n, t], an input of the graph: the network's tokens, of which 0 is padding
// (embedding's mask_zero), or what lengths make (input: {..., lengths: true}). Layers that treat
// each step by itself keep it, those that have a mask input read it, and any other is refused.
#pragma once

#include <string>

#include "graph/graph.h"

namespace trainyard {

/// The name of the mask that lengths make, for a `from:`.
inline constexpr const char* kMaskName = "mask";

/// Adds the mask that lengths make to the inputs of a graph, which so far reads its samples alone.
void add_mask_input(Graph& graph);
/// Takes it from the inputs again if no node reads it: then losses and metrics alone are masked.
void drop_unread_mask(Graph& graph);

/// Lets a node whose sequences have a mask read it, if its op can. Returns "", or why such a
/// sequence is none of its inputs.
[[nodiscard]] std::string give_mask(const Graph& graph, Node& node);
/// Why the mask of a node's input, whose signature is inferred, does not fit its output; or "".
[[nodiscard]] std::string order_fault(const Graph& graph, const Node& node);
/// Notes the mask of the outputs of a node of the graph.
void pass_mask(Graph& graph, const Node& node);

/// The value itself, or what it is another name of (identity).
[[nodiscard]] ValueId without_aliases(const Graph& graph, ValueId value);

}  // namespace trainyard
