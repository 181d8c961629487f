// JPEG files for tests: those of tests/data/images, which scripts/make_image_goldens.py makes,
// and small ones written by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::test {

/// The bytes of tests/data/images/`name`.
[[nodiscard]] std::string image_file(std::string_view name);

/// A JPEG of three components without data: every difference is 0, so all pixels are grey.
struct GreyJpeg {
  std::uint32_t w = 8;
  std::uint32_t h = 8;
  int scans_a_component = 1;  // each component has its own scans; a file is complete with one each
  int bits = 8;               // bits that the header claims
};
[[nodiscard]] std::string grey_jpeg(const GreyJpeg& form);

/// `jpeg` with an Exif segment that holds this orientation, in big-endian or little-endian form.
[[nodiscard]] std::string with_orientation(const std::string& jpeg, int orientation,
                                           bool big = true);

}  // namespace trainyard::test
