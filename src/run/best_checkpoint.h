// Which checkpoint of a run has its best weights. Each state.json knows the best epoch; the pointer
// `best` is written after it, and may name an older one if the process died in between.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "checkpoint/manifest.h"

namespace trainyard {

struct BestCheckpoint {
  std::int64_t epoch = 0;                          // 0: no epoch has been judged yet
  std::optional<CheckpointEntry> checkpoint = {};  // saved at its end; none: it is lost
};

/// The one that was saved at the end of `epoch`; none if it is missing or cannot be read.
[[nodiscard]] std::optional<CheckpointEntry> checkpoint_after_epoch(
    const std::filesystem::path& folder, std::int64_t epoch);

/// What the state of the newest checkpoint in `folder` says. Empty if there is none that can be
/// read.
[[nodiscard]] std::optional<BestCheckpoint> best_checkpoint(const std::filesystem::path& folder);

}  // namespace trainyard
