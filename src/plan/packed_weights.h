// Packed weights in a plan: what steps read of the packed block, and where packed gradients are
// written and unpacked.
#pragma once

#include <span>

#include "plan/blocks.h"
#include "plan/plan.h"

namespace trainyard {

/// For a device that packs weights (Target::packs_weights): sets what the steps read packed. A step
/// that writes a gradient packed gets a tensor for it, and steps are inserted that unpack all of
/// these at once: after the last step of each gradient bucket, and before a sum reads one.
void use_packed_weights(Plan& plan, const BlockLayout& blocks);

/// Every weight that the plans' steps read packed, once for all of them.
[[nodiscard]] PackedLayout lay_out_packed(const BlockLayout& blocks,
                                          std::span<const Plan* const> plans);

}  // namespace trainyard
