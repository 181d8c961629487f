// The folders that each folder may include, and the folder that owns each library
// (docs/architecture.md).
#pragma once

#include <string_view>
#include <vector>

#include "source_file.h"

namespace trainyard::layers {

/// True if a file of folder `from` may include one of folder `to`: `to` is `from` itself, or is in
/// the row of `from` or of a folder that `from` may include.
[[nodiscard]] bool may_include(std::string_view from, std::string_view to);
/// True if the table has a row for the folder.
[[nodiscard]] bool is_known_folder(std::string_view folder);

/// Project includes that the table forbids, and those that are not "folder/file.h".
[[nodiscard]] std::vector<Finding> forbidden_includes(const SourceFile& file);
/// Library headers outside the folder that owns the library.
[[nodiscard]] std::vector<Finding> foreign_libraries(const SourceFile& file);

}  // namespace trainyard::layers
