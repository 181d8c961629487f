// Whether the ranks of a run compute on devices that can join.
#pragma once

#include <string>

#include "train/rank_group.h"

namespace trainyard {

/// What a rank computes on.
struct DeviceKind {
  bool gpu = false;
  std::string no_gpu = {};  // why it is none, where --gpus leaves it open; or ""
};

/// Every rank calls it before its first sum. Throws Error{device}, the same on all ranks, that
/// names a rank without a GPU, why it has none, and one with a GPU, where there are both.
void require_one_kind(const DeviceKind& own, RankGroup& ranks);

}  // namespace trainyard
