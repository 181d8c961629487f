// Recognises lists of pictures: which column has the paths, and which the classes.
#pragma once

#include <filesystem>
#include <optional>

#include "data/sets/image_list.h"

namespace trainyard {

/// How `image_list` reads a file whose lines, but perhaps the first, each name a picture; none for
/// another file. Its `root` is "", the list's folder, unless the pictures are below the current
/// folder or a folder beside the list. Throws Error{data} for a list without a column of classes,
/// or with several columns that might be it.
[[nodiscard]] std::optional<ImageListOptions> picture_list_in(const std::filesystem::path& file);

}  // namespace trainyard
