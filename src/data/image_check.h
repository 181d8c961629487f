// What stb_image takes on trust in a picture, checked before it decodes.
#pragma once

#include "data/image_decode.h"

namespace trainyard {

/// PNG: every chunk lies inside the file and has its CRC-32 (PNG specification, 5.3), up to IEND.
/// BMP: the palette has a colour for every index, and the rows are all in the file. Throws
/// Error{data}. Files of other formats pass.
void check_image(const EncodedImage& image, const ImageSize& size);

}  // namespace trainyard
