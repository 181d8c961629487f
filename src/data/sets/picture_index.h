// The sizes of a folder's pictures, found once and kept in the user's cache folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/images/picture.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// A picture file that has not changed as long as `bytes` and `changed` have not.
struct PictureRecord {
  std::string name;          // below the folder
  std::uint64_t bytes = 0;   // of the file
  std::int64_t changed = 0;  // time of the last change of the file, or of a link to it if later,
                             // nanoseconds of the file system's clock
  ImageSize size;            // upright
  bool decoded = false;      // its pixels have been decoded, not only its header read
  std::string fault = {};    // why it is none; such records are not kept
};

/// PictureRecord::changed in nanoseconds since 1970, as other programs show it.
[[nodiscard]] std::int64_t unix_time(std::int64_t changed);

/// The records as text: a line of title, one line each of bytes, changed, h, w, decoded (0 or 1)
/// and name, and a line with the XXH3-128 of what precedes it. Names with a line break are left
/// out.
[[nodiscard]] std::string picture_index_text(const std::vector<PictureRecord>& records);
/// Throws Error{data} unless the text was written whole by picture_index_text().
[[nodiscard]] std::vector<PictureRecord> parse_picture_index(std::string_view text);

/// How pictures are looked at.
struct PictureLook {
  std::int64_t max_pixels = 0;  // more are a fault
  bool decode = false;          // all of each file, which finds every damage, not only its header
};

/// The records of the files `names` below `folder`, in their order. What is known comes from the
/// index in `opening.cache_folder`; new and changed files are looked at, and then the index is
/// written again (a failure to do so is a warning). A file that is not a picture has a fault.
[[nodiscard]] std::vector<PictureRecord> indexed_pictures(const std::filesystem::path& folder,
                                                          const std::vector<std::string>& names,
                                                          const PictureLook& look,
                                                          const Opening& opening);

}  // namespace trainyard
