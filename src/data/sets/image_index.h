// The sizes of a folder's images, found once and kept in the user's cache folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "data/images/image.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// An image file that has not changed as long as `bytes` and `changed` have not.
struct ImageRecord {
  std::string name;          // below the folder
  std::uint64_t bytes = 0;   // bytes of the file
  std::int64_t changed = 0;  // time of the last change of the file, or of a link to it if later,
                             // nanoseconds of the file system's clock
  ImageSize size;            // upright
  bool decoded = false;      // its pixels have been decoded, not only its header read
  std::string fault = {};    // why it is none; such records are not kept
};

/// ImageRecord::changed in nanoseconds since 1970, as other programs show it.
[[nodiscard]] std::int64_t unix_time(std::int64_t changed);

/// The records as text: a line of title, one line each of bytes, changed, h, w, decoded (0 or 1)
/// and name, and a line with the XXH3-128 of what precedes it. Names with a line break are left
/// out.
[[nodiscard]] std::string image_index_text(const std::vector<ImageRecord>& records);
/// Throws Error{data} unless the text was written whole by image_index_text().
[[nodiscard]] std::vector<ImageRecord> parse_image_index(std::string_view text);

/// How images are looked at.
struct ImageLook {
  std::int64_t max_pixels = 0;  // more are a fault
  bool decode = false;          // all of each file, which finds every damage, not only its header
};

/// The records of the files `names` below `folder`, in their order. What is known comes from the
/// index in `opening.cache_folder`; new and changed files are looked at, and then the index is
/// written again (a failure to do so is a warning). A file that is not an image has a fault.
[[nodiscard]] std::vector<ImageRecord> indexed_images(const fs::path& folder,
                                                      const std::vector<std::string>& names,
                                                      const ImageLook& look,
                                                      const Opening& opening);

}  // namespace trainyard
