// MANIFEST.json of a checkpoint: size and XXH3-128 of each file, and of itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

struct ManifestFile {
  std::uint64_t bytes = 0;
  std::string xxh3_128;
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::string run;  // id of the run that saved it; "" for runs from before ids existed
  std::map<std::string, ManifestFile> files;
  bool operator==(const Manifest&) const = default;
};

/// The file's text. Its last key is the hash of the text without that key, so that any changed byte
/// is detected.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
/// Throws Error{checkpoint} naming `source` unless `text` is, byte for byte, what manifest_text()
/// wrote, with plain file names.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& source);

// The names inside a `checkpoints/` folder.

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
[[nodiscard]] std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder);

}  // namespace trainyard
