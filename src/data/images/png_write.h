// Writing PNG files.
#pragma once

#include <string>

#include "data/images/picture.h"

namespace trainyard {

/// The picture as a PNG file of 8 bits, without a filter.
[[nodiscard]] std::string png_of_picture(const Picture& picture);

}  // namespace trainyard
