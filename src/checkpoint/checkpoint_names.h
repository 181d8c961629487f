// The names inside a `checkpoints/` folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

inline constexpr const char* kManifestName = "MANIFEST.json";
inline constexpr const char* kStateName = "state.json";
/// A folder that is being written; never read.
inline constexpr const char* kTemporaryPrefix = ".tmp-";
/// A folder that a new one of the same step is about to replace; read if the new one is missing.
inline constexpr const char* kReplacedPrefix = ".old-";

struct CheckpointEntry {
  std::string file_name;  // as on disk, prefix included
  std::int64_t epoch = 0;
  std::int64_t step = 0;
};

/// "epoch-0010_step-003910".
[[nodiscard]] std::string checkpoint_name(std::int64_t epoch, std::int64_t step);

/// The inverse of checkpoint_name(), with or without kReplacedPrefix.
[[nodiscard]] std::optional<CheckpointEntry> parse_checkpoint_name(std::string_view file_name);

/// All checkpoints of `folder`, newest first; for the same step the replaced one is last. Empty if
/// the folder is missing.
[[nodiscard]] std::vector<CheckpointEntry> list_checkpoints(const std::filesystem::path& folder);

}  // namespace trainyard
