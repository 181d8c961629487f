// Whether the devices of a run's ranks can train together.
#pragma once

#include <string>

#include "ranks/rank_group.h"

namespace trainyard {

/// The device of a rank.
struct DeviceKind {
  bool gpu = false;
  std::string no_gpu = {};  // why it is not a GPU, if --gpus leaves it open; or ""
};

/// Called by every rank before its first all-reduce. If some ranks have a GPU and some do not,
/// throws Error{device}, the same on all ranks, that names one without, why, and one with a GPU.
void require_one_kind(const DeviceKind& own, RankGroup& ranks);

}  // namespace trainyard
