#include "plan/blocks.h"

#include <algorithm>
#include <map>

#include "base/offset_allocator.h"
#include "plan/plan.h"
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

/// True for a step that writes the gradients of its node's parameters.
bool writes_gradients(const Plan& plan, const PlanStep& step) {
  if (step.kind != PlanStep::Kind::op) return false;
  if (step.pass == Pass::backward_parameters) return true;
  return step.pass == Pass::backward_data && plan.node_of(step).op->contract().synced_backward;
}

/// The entries of the block that a step writes or adds to. A packed gradient is written to the
/// block where it is unpacked.
std::vector<std::int64_t> entries_written(const Plan& plan, const BlockLayout& blocks,
                                          const PlanStep& step) {
  std::vector<std::int64_t> entries;
  const std::size_t own =
      writes_gradients(plan, step) ? plan.node_of(step).signature.parameters.size() : 0;
  for (std::size_t i = 0; i < own; ++i) {
    if (!step.parameter_gradients.empty() && step.parameter_gradients[i] != kNoTensor) continue;
    entries.push_back(blocks.parameter_of_node[step.node][i]);
  }
  for (const auto* list : {&step.parameter_gradients, &step.outputs}) {
    for (const TensorId id : *list) {
      const auto of = id == kNoTensor ? std::nullopt : plan.tensors[id].gradient_of;
      if (of) entries.push_back(blocks.parameter_of_node[of->node][of->index]);
    }
  }
  return entries;
}

/// By entry: the number of steps up to and including the last that writes it.
std::vector<std::size_t> steps_of_entries(const Plan& plan, const BlockLayout& blocks) {
  std::vector<std::size_t> steps(blocks.parameters.size());
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    for (const std::int64_t entry : entries_written(plan, blocks, plan.steps[index])) {
      steps[static_cast<std::size_t>(entry)] = index + 1;
    }
  }
  return steps;
}

/// Cuts the block at entry boundaries.
class Cutter {
 public:
  Cutter(const BlockLayout& blocks, std::size_t element_bytes)
      : blocks_(blocks), element_bytes_(element_bytes) {}

  /// The first entry of each bucket.
  [[nodiscard]] std::vector<std::size_t> begins(const BucketBytes& sizes) const {
    if (bytes(0, entries()) < sizes.single || entries() == 0) return {0};
    const std::size_t last = last_begin(sizes.last);
    std::vector<std::size_t> begins{0};
    for (std::size_t entry = 1; entry < last; ++entry) {
      if (bytes(begins.back(), entry) >= sizes.full) begins.push_back(entry);
    }
    if (last > 0) begins.push_back(last);
    return begins;
  }
  /// Where an entry begins, in elements; past the last entry, the end of the parameters.
  [[nodiscard]] std::int64_t offset(std::size_t entry) const {
    return entry < entries() ? blocks_.parameters[entry].offset : blocks_.parameter_elements;
  }
  [[nodiscard]] std::size_t entries() const { return blocks_.parameters.size(); }

 private:
  [[nodiscard]] std::size_t bytes(std::size_t begin, std::size_t end) const {
    return static_cast<std::size_t>(offset(end) - offset(begin)) * element_bytes_;
  }
  [[nodiscard]] std::size_t last_begin(std::size_t most) const {
    std::size_t begin = entries() - 1;
    while (begin > 0 && bytes(begin - 1, entries()) <= most) --begin;
    return begin;
  }

  const BlockLayout& blocks_;
  std::size_t element_bytes_;
};

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

BucketBytes bucket_bytes(std::size_t block) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  return {.single = 4 * kMiB, .full = std::clamp(block / 4, 4 * kMiB, 25 * kMiB), .last = kMiB};
}

std::vector<bool> written_entries(const Plan& plan, const BlockLayout& blocks) {
  std::vector<bool> written;
  for (const std::size_t steps : steps_of_entries(plan, blocks)) written.push_back(steps > 0);
  return written;
}

std::vector<GradientBucket> cut_gradient_buckets(const Plan& plan, const BlockLayout& blocks,
                                                 std::size_t element_bytes,
                                                 const BucketBytes& sizes) {
  const std::vector<std::size_t> steps = steps_of_entries(plan, blocks);
  const Cutter cutter(blocks, element_bytes);
  std::vector<std::size_t> begins = cutter.begins(sizes);
  begins.push_back(cutter.entries());
  std::vector<GradientBucket> buckets;
  std::size_t done = 0;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    for (std::size_t entry = begins[i]; entry < begins[i + 1]; ++entry) {
      done = std::max(done, steps[entry]);
    }
    const std::int64_t first = cutter.offset(begins[i]);
    buckets.push_back(
        {.first = first, .count = cutter.offset(begins[i + 1]) - first, .steps = done});
  }
  buckets.back().count += blocks.statistic_elements;
  buckets.back().steps = plan.steps.size();
  return buckets;
}

std::vector<GradientBucket> cut_gradient_buckets(const Plan& plan, const BlockLayout& blocks,
                                                 std::size_t element_bytes) {
  const auto elements = static_cast<std::size_t>(blocks.gradient_elements());
  return cut_gradient_buckets(plan, blocks, element_bytes, bucket_bytes(elements * element_bytes));
}

}  // namespace trainyard
