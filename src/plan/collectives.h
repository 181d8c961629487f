// Which gradients are complete after which step, so that their sum over ranks can go on beside the
// steps that follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace trainyard {

/// A slice of the gradient block that is summed over ranks at once.
struct GradientBucket {
  std::int64_t first = 0;  // of its elements
  std::int64_t count = 0;
  std::size_t steps = 0;  // of the plan, after which nothing writes into it
  bool operator==(const GradientBucket&) const = default;
};

/// Sizes of buckets. Many small sums wait for each other's beginnings, and a large one at the end
/// for itself: 25 MiB and a last one of 1 MiB are PyTorch's (DistributedDataParallel).
struct BucketBytes {
  std::size_t single = std::size_t{4} << 20;  // a block below it is one bucket
  std::size_t full = std::size_t{25} << 20;   // a bucket that has as much takes no more
  std::size_t last = std::size_t{1} << 20;    // the most of the last one, unless one parameter is
};

/// The gradient block in buckets of whole parameters, in the order of the block and of their sums;
/// `steps` never falls. The statistics of the batch belong to the last one, which waits for all
/// steps. `element_bytes` is what an element takes on its way. Pure.
[[nodiscard]] std::vector<GradientBucket> insert_collectives(const Plan& plan,
                                                             const BlockLayout& blocks,
                                                             std::size_t element_bytes,
                                                             const BucketBytes& sizes = {});

}  // namespace trainyard
