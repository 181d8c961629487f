// What a starter is to know of pictures: their sizes, colours and classes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "data/sets/dataset.h"
#include "data/sets/image_list.h"

namespace trainyard {

struct PictureFacts {
  std::int64_t samples = 0;
  std::int64_t classes = 0;
  std::int64_t side = 0;  // pixels of the shorter side of the median picture
  bool grey = false;      // every picture that was looked at, at most 500 of them
  bool skewed = false;    // the largest class has more than twice the pictures of the smallest
};

/// Of pictures with three channels and sizes of their own. Damaged ones count for their size alone.
[[nodiscard]] PictureFacts facts_of_pictures(const Dataset& set);

// Recognises lists of pictures: which column has the paths, and which the classes.

/// How `image_list` reads a file whose lines, but perhaps the first, each name a picture; none for
/// another file. Its `root` is "", the list's folder, unless the pictures are below the current
/// folder or a folder beside the list. Throws Error{data} for a list without a column of classes,
/// or with several columns that might be it.
[[nodiscard]] std::optional<ImageListOptions> picture_list_in(const std::filesystem::path& file);

}  // namespace trainyard
