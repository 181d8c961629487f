#include <cstdint>
#include <vector>

#include "../data/helpers.h"
#include "data/image_decode.h"
#include "expect.h"

namespace trainyard::fuzz {

namespace {

void decode(std::string_view input) {
  const EncodedImage image{std::as_bytes(std::span(input)), "x", 1 << 16};
  const ImageSize size = image_size(image);
  for (const int channels : {1, 3}) {
    std::vector<std::uint8_t> out(static_cast<std::size_t>(channels * size.h * size.w));
    decode_image(image, channels, out);
  }
}

}  // namespace

void read_image(std::string_view input) { decode(input); }

/// Corrects the checksums, so that the code behind them is reached.
void read_png(std::string_view input) { decode(test::with_checksums(std::string(input))); }

}  // namespace trainyard::fuzz
