// Whose tensors become which of a network's: a map of names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard {

/// One line of a map: a tensor ("stage1.conv1.weight") or a whole layer ("stage1.conv1") of the
/// network, and what it is in the other file. Several tensors are added.
struct NameMapEntry {
  std::string ours;
  std::vector<std::string> theirs;
  Position where;
};

/// In the order of the file; no name of ours is there twice.
using NameMap = std::vector<NameMapEntry>;

/// Reads a YAML map `OURS: THEIRS` or `OURS: [THEIRS, THEIRS]` (.yaml, .yml), or a text of lines
/// `OURS THEIRS THEIRS` with blanks or tabs between names and # before a comment. Throws
/// Error{config} with all errors of the file.
[[nodiscard]] NameMap read_name_map(const std::filesystem::path& path);

}  // namespace trainyard
