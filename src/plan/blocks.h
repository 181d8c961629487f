// The flat blocks: parameters, gradients, optimizer state and running statistics. Gradient buckets:
// which gradients are complete after which step, so that their all-reduce can overlap the steps
// that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compute/weight_shape.h"
#include "graph/graph.h"

namespace trainyard {

struct Plan;
struct PlanStep;

/// The slot of a tensor in a block, in elements.
struct BlockEntry {
  std::string name;  // "stage1.unit1.add1.0.cbr1.conv1.weight"
  NodeId node = -1;
  std::size_t index = 0;  // index in the node's parameters or statistics
  Shape shape;
  std::int64_t offset = 0;
};

/// A parameter in the packed block.
struct PackedEntry {
  std::int64_t parameter = 0;  // index of its entry in BlockLayout::parameters
  WeightShape shape;
  std::size_t offset = 0;  // in bytes
};

/// The packed block: parameters in the type and order in which executors read them, for devices
/// that pack weights. What follows from the weights is written after every change of them.
struct PackedLayout {
  DType type = DType::f32;
  std::vector<PackedEntry> entries;
  std::size_t bytes = 0;

  /// Null if nothing reads the parameter so.
  [[nodiscard]] const PackedEntry* find(std::int64_t parameter, const WeightShape& shape) const;
  [[nodiscard]] TensorView view(std::byte* block, const PackedEntry& entry) const;
};
/// Layout of a packed weight: [padded_filters, height, width, padded_channels].
[[nodiscard]] Layout packed_layout(const WeightShape& shape);

/// Parameters in backward order of the nodes that own them, each at a multiple of kChunk elements.
/// The gradient block has the same order, with the batch statistics as its tail: one all-reduce
/// covers both. Running statistics are a separate block, in the order of the tail.
struct BlockLayout {
  std::vector<BlockEntry> parameters;
  std::vector<BlockEntry> statistics;                        // offsets into the running block
  std::int64_t parameter_elements = 0;                       // a multiple of kChunk
  std::int64_t statistic_elements = 0;                       // a multiple of kChunk
  std::vector<std::vector<std::int64_t>> parameter_of_node;  // [node][index] -> entry, also for
                                                             // nodes that share it
  std::vector<std::vector<std::int64_t>> statistic_of_node;
  PackedLayout packed;  // empty: executors read the parameters as they are

  [[nodiscard]] std::int64_t gradient_elements() const {
    return parameter_elements + statistic_elements;
  }
};

/// The node whose parameters each node uses: itself, or one before it (`share:`).
[[nodiscard]] std::vector<NodeId> parameter_owners(const Graph& graph);
[[nodiscard]] BlockLayout lay_out_blocks(const Graph& graph);
/// Every weight that the plans' steps read packed, once for all of them; empty for a target whose
/// executors read them as they are.
[[nodiscard]] PackedLayout lay_out_packed(const BlockLayout& blocks,
                                          std::span<const Plan* const> plans);
/// The parameters that the executor of a step reads packed.
[[nodiscard]] std::vector<PackedParameter> packed_parameters_of(const Plan& plan,
                                                                const PlanStep& step);

/// A slice of the gradient block that is all-reduced as a whole.
struct GradientBucket {
  std::int64_t first = 0;  // first of its elements
  std::int64_t count = 0;
  std::size_t steps = 0;  // steps of the plan, after which nothing writes to it
  bool operator==(const GradientBucket&) const = default;
};

/// Bucket sizes.
struct BucketBytes {
  std::size_t single = 0;  // a smaller block is one bucket
  std::size_t full = 0;    // a bucket of this size takes no more
  std::size_t last = 0;    // maximum of the last one, unless a single parameter exceeds it
  bool operator==(const BucketBytes&) const = default;
};

/// Sizes for a gradient block of `block` bytes in the gradient dtype. Every all-reduce pays about
/// as much for latency as for 4 MiB, so a smaller block is one bucket and no full one is smaller.
/// A quarter of the block is full, up to PyTorch's 25 MiB (DistributedDataParallel), so that
/// all-reduces begin early in the backward pass of middling blocks too. The last one has nothing to
/// overlap: 1 MiB, as PyTorch's. Pure.
[[nodiscard]] BucketBytes bucket_bytes(std::size_t block);

/// The gradient block in buckets of whole parameters, in the order of the block and of their
/// all-reduces; `steps` never decreases. The batch statistics belong to the last bucket, which
/// waits for all steps. `element_bytes` is the size of an element in the gradient dtype. Pure.
[[nodiscard]] std::vector<GradientBucket> cut_gradient_buckets(const Plan& plan,
                                                               const BlockLayout& blocks,
                                                               std::size_t element_bytes,
                                                               const BucketBytes& sizes);
/// The same in buckets of the sizes that follow from the block's.
[[nodiscard]] std::vector<GradientBucket> cut_gradient_buckets(const Plan& plan,
                                                               const BlockLayout& blocks,
                                                               std::size_t element_bytes);

/// By entry of the block: whether a step writes it. The gradients of the others are 0: those of
/// frozen layers, of biases that batch norms cancel, and of layers that the loss does not depend
/// on.
[[nodiscard]] std::vector<bool> written_entries(const Plan& plan, const BlockLayout& blocks);

}  // namespace trainyard
