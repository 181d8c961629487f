// Gradient buckets: which gradients are complete after which step, so that their all-reduce can
// overlap the steps that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace trainyard {

/// A slice of the gradient block that is all-reduced as a whole.
struct GradientBucket {
  std::int64_t first = 0;  // of its elements
  std::int64_t count = 0;
  std::size_t steps = 0;  // of the plan, after which nothing writes to it
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
