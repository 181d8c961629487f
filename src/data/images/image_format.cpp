#include "data/images/image_format.h"

#include <array>
#include <string_view>

#include "base/bad_file.h"

namespace trainyard {

namespace {

using std::string_view_literals::operator""sv;

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array kOthers{
    Signature{0, "II*\0"sv, "a TIFF"},
    Signature{0, "MM\0*"sv, "a TIFF"},
    Signature{4, "jP  \r\n", "a JPEG 2000"},
    Signature{4, "ftyp", "a HEIF or AVIF"},
};

}  // namespace

ImageFormat image_format(const EncodedImage& image) {
  const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()),
                              image.bytes.size());
  if (text.empty()) bad_file(image.name, "is empty; get the picture again or remove it");
  if (text.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::png;
  if (text.starts_with("\xff\xd8\xff")) return ImageFormat::jpeg;
  if (text.starts_with("BM")) return ImageFormat::bmp;
  if (text.starts_with("GIF8")) return ImageFormat::gif;
  if (text.starts_with("RIFF") && text.substr(0, 12).ends_with("WEBP")) return ImageFormat::webp;
  for (const Signature& other : kOthers) {
    if (text.size() < other.offset || !text.substr(other.offset).starts_with(other.bytes)) continue;
    bad_file(image.name, "is " + std::string(other.name) + " file, expected " + kImageFormats +
                             "; convert it, for instance to PNG");
  }
  bad_file(image.name, "is not a " + std::string(kImageFormats) +
                           " file: its first bytes are of none of them; convert or remove it");
}

}  // namespace trainyard
