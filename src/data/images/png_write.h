// Writing PNG files.
#pragma once

#include <string>

#include "data/images/image.h"

namespace trainyard {

/// The image as a PNG file of 8 bits, without a filter.
[[nodiscard]] std::string png_of_image(const Image& image);

}  // namespace trainyard
