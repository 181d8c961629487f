// A picture in a file.
#pragma once

#include <filesystem>
#include <string>

#include "data/images/picture.h"

namespace trainyard {

/// The upright size in the header of a picture file, of which no more than the start is read if the
/// header is there. Throws Error{data}: not a picture, more than `max_pixels`.
[[nodiscard]] ImageSize picture_file_size(const std::filesystem::path& path,
                                          std::int64_t max_pixels);

/// The picture, decoded to 1 or 3 channels, upright; `hash`, if given, gets the XXH3-128 of the
/// file. Throws Error{data} for a damaged one.
[[nodiscard]] Picture read_picture_file(const std::filesystem::path& path, int channels,
                                        std::int64_t max_pixels, std::string* hash = nullptr);

}  // namespace trainyard
