// What a starter is to know of pictures: their sizes, colours and classes.
#pragma once

#include <cstdint>

#include "data/sets/dataset.h"

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

}  // namespace trainyard
