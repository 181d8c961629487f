// What a starter is to know of images: their sizes, colours and classes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "data/sets/dataset.h"
#include "data/sets/image_list.h"
#include "starter/column_facts.h"

namespace trainyard {

struct ImageFacts {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;  // of the network: classes, numbers or words
  std::int64_t side = 0;     // pixels of the shorter side of the median image
  bool grey = false;         // every image that was looked at, at most 500 of them
  bool skewed = false;       // the largest class has more than twice the images of the smallest
  Answer answer = {};
};

/// What `answer` is to learn, of images with three channels and sizes of their own. Damaged ones
/// count for their size alone.
[[nodiscard]] ImageFacts facts_of_images(const Dataset& set, const Answer& answer = {});

// Recognises lists of images: which column has the paths, and which the classes.

struct FoundList {
  ImageListOptions options;
  Answer answer;  // of a list whose first line names its columns; of others classes
};
/// How `image_list` reads a file whose lines, but perhaps the first, each name an image; none for
/// another file. Its `root` is "", the list's folder, unless the images are below the current
/// folder or a folder beside the list. Throws Error{data} for a list without a column of classes,
/// or with several columns that might be it.
[[nodiscard]] std::optional<FoundList> image_list_in(const std::filesystem::path& file);

}  // namespace trainyard
