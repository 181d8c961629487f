#include "plan/blocks.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/round_up.h"
#include "tensor/launch_limits.h"

namespace trainyard {
namespace {

template <class Spec>
void append(std::vector<BlockEntry>& entries, std::vector<std::int64_t>& of_node,
            std::int64_t& elements, const Node& node, NodeId id, std::span<const Spec> specs) {
  for (std::size_t index = 0; index < specs.size(); ++index) {
    of_node.push_back(static_cast<std::int64_t>(entries.size()));
    entries.push_back({.name = node.path + "." + specs[index].name,
                       .node = id,
                       .index = index,
                       .shape = specs[index].shape,
                       .offset = elements});
    elements += round_up(specs[index].shape.elements(), kChunk);
  }
}

}  // namespace

const PackedEntry* PackedLayout::find(std::int64_t parameter, const WeightShape& shape) const {
  const auto same = [&](const PackedEntry& entry) {
    return entry.parameter == parameter && entry.shape == shape;
  };
  const auto found = std::ranges::find_if(entries, same);
  return found == entries.end() ? nullptr : &*found;
}

TensorView PackedLayout::view(std::byte* block, const PackedEntry& entry) const {
  return {.data = block + entry.offset, .type = type, .layout = packed_layout(entry.shape)};
}

Layout packed_layout(const WeightShape& shape) {
  return plain_layout({shape.padded_filters, shape.height, shape.width, shape.padded_channels});
}

std::vector<NodeId> parameter_owners(const Graph& graph) {
  std::map<std::string, NodeId> ids;
  std::vector<NodeId> owners;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const Node& node = graph.nodes[id];
    ids[node.path] = id;
    owners.push_back(node.parameters_of.empty() ? id : ids.at(node.parameters_of));
  }
  return owners;
}

BlockLayout lay_out_blocks(const Graph& graph) {
  BlockLayout blocks;
  blocks.parameter_of_node.resize(graph.nodes.size());
  blocks.statistic_of_node.resize(graph.nodes.size());
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()) - 1; id >= 0; --id) {
    const Node& node = graph.nodes[id];
    append(blocks.parameters, blocks.parameter_of_node[id], blocks.parameter_elements, node, id,
           own_parameters(node));
    append(blocks.statistics, blocks.statistic_of_node[id], blocks.statistic_elements, node, id,
           std::span<const StatisticSpec>(node.signature.statistics));
  }
  const std::vector<NodeId> owners = parameter_owners(graph);
  for (std::size_t id = 0; id < owners.size(); ++id) {
    blocks.parameter_of_node[id] = blocks.parameter_of_node[owners[id]];
  }
  return blocks;
}

}  // namespace trainyard
