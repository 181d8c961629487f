// The sizes of a folder's pictures, found once and kept in the user's cache folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/picture.h"

namespace trainyard {

/// A picture file that has not changed as long as `bytes` and `changed` have not.
struct PictureRecord {
  std::string name;          // below the folder
  std::uint64_t bytes = 0;   // of the file
  std::int64_t changed = 0;  // time of the last change, nanoseconds of the file system's clock
  ImageSize size;            // upright
};

/// PictureRecord::changed in nanoseconds since 1970, as other programs show it.
[[nodiscard]] std::int64_t unix_time(std::int64_t changed);

/// The records as text: a line of title, one line each of bytes, changed, h, w and name, and a line
/// with the XXH3-128 of what precedes it. Names with a line break are left out.
[[nodiscard]] std::string picture_index_text(const std::vector<PictureRecord>& records);
/// Throws Error{data} unless the text was written whole by picture_index_text().
[[nodiscard]] std::vector<PictureRecord> parse_picture_index(std::string_view text);

/// The records of the files `names` below `folder`, in their order. Sizes come from the index in
/// `opening.cache_folder`; the headers of new and changed files are read, and then the index is
/// written again (a failure to do so is a warning). A file whose header claims more than
/// `max_pixels` and one that is not a picture throw Error{data}.
[[nodiscard]] std::vector<PictureRecord> indexed_pictures(const std::filesystem::path& folder,
                                                          const std::vector<std::string>& names,
                                                          std::int64_t max_pixels,
                                                          const Opening& opening);

}  // namespace trainyard
