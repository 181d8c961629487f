// Moves of a sample's pixels as Pillow makes them with nearest pixels, as changes of a sample.
#pragma once

#include "data/augment/colour_transform.h"
#include "data/augment/sample_view.h"
#include "data/augment/spatial_transform.h"

namespace trainyard {

/// out(y, x) = in(row, column), where column >> 16 and row >> 16 are x * map[0] + y * map[1] +
/// map[2] and x * map[3] + y * map[4] + map[5]; 0 outside of the image (Pillow,
/// libImaging/Geometry.c, affine_fixed). Values are rounded to bytes.
struct MovePixels {
  static constexpr std::uint32_t kNumber = change_number("move_pixels");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const std::int64_t width = sample.width, height = sample.plane / width;
    const std::int64_t* const map = step.map;
    sample.map_planes(team, [=](const float* from, std::int64_t i) {
      const std::int64_t y = i / width, x = i - y * width;
      const std::int64_t column = (x * map[0] + y * map[1] + map[2]) >> 16;
      const std::int64_t row = (x * map[3] + y * map[4] + map[5]) >> 16;
      const bool inside = column >= 0 && column < width && row >= 0 && row < height;
      return inside ? as_byte(from[row * width + column]) : 0.0f;
    });
  }
};

/// The move by a map of points, from a pixel of the output to one of the input, where pixel (y, x)
/// is centred at (y + 0.5, x + 0.5). Its numbers are rounded to 2^-16.
[[nodiscard]] ColourTransform moved_by(const Affine& map);

/// Pillow's rotation about the image's centre, counterclockwise for positive degrees
/// (Image.rotate).
[[nodiscard]] Affine turned(double degrees, std::int64_t height, std::int64_t width);

}  // namespace trainyard
