#include "plan/blocks.h"

#include "kernels/chunk.h"

namespace trainyard {
namespace {

std::int64_t round_up_to_chunk(std::int64_t elements) {
  return (elements + kChunk - 1) / kChunk * kChunk;
}

template <class Spec>
void append(std::vector<BlockEntry>& entries, std::vector<std::int64_t>& of_node,
            std::int64_t& elements, const Node& node, NodeId id, const std::vector<Spec>& specs) {
  for (std::size_t index = 0; index < specs.size(); ++index) {
    of_node.push_back(static_cast<std::int64_t>(entries.size()));
    entries.push_back({.name = node.path + "." + specs[index].name,
                       .node = id,
                       .index = index,
                       .shape = specs[index].shape,
                       .offset = elements});
    elements += round_up_to_chunk(specs[index].shape.elements());
  }
}

}  // namespace

BlockLayout lay_out_blocks(const Graph& graph) {
  BlockLayout blocks;
  blocks.parameter_of_node.resize(graph.nodes.size());
  blocks.statistic_of_node.resize(graph.nodes.size());
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()) - 1; id >= 0; --id) {
    const Node& node = graph.nodes[id];
    append(blocks.parameters, blocks.parameter_of_node[id], blocks.parameter_elements, node, id,
           node.signature.parameters);
    append(blocks.statistics, blocks.statistic_of_node[id], blocks.statistic_elements, node, id,
           node.signature.statistics);
  }
  return blocks;
}

}  // namespace trainyard
