// The folders that each folder may include, and the folder that owns each library
// (docs/architecture.md).
#pragma once

#include <string_view>
#include <vector>

#include "source_file.h"

namespace trainyard::layers {

/// The folder of the table that a path from src is in: "data/sets/idx.h" is in "data/sets"; "" if
/// in none.
[[nodiscard]] std::string_view folder_in_table(std::string_view path);
/// True if a file of src may include another, both by their paths from there: if they are in one
/// folder of the table, or the folder of `to` is in the row of that of `from`. What the folders of
/// a row may include is not meant.
[[nodiscard]] bool may_include(std::string_view from, std::string_view to);

/// Project includes that the table forbids, and those that are not "folder/file.h".
[[nodiscard]] std::vector<Finding> forbidden_includes(const SourceFile& file);
/// Library headers outside the folder that owns the library.
[[nodiscard]] std::vector<Finding> foreign_libraries(const SourceFile& file);

}  // namespace trainyard::layers
