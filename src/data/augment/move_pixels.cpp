#include "data/augment/move_pixels.h"

#include <cmath>
#include <numbers>

namespace trainyard {

ColourTransform moved_by(const Affine& map) {
  const auto fixed = [](double x) {
    return static_cast<std::int64_t>(std::floor(x * 65536.0 + 0.5));
  };
  return {.change = MovePixels::kNumber,
          .map = {fixed(map.xx), fixed(map.xy), fixed(map.x0 + map.xx * 0.5 + map.xy * 0.5),
                  fixed(map.yx), fixed(map.yy), fixed(map.y0 + map.yx * 0.5 + map.yy * 0.5)}};
}

Affine turned(double degrees, std::int64_t height, std::int64_t width) {
  // The last digits of a right angle's cosine would move its pixels.
  const auto rounded = [](double x) { return std::round(x * 1e15) / 1e15; };
  const double angle = -degrees * (std::numbers::pi / 180.0);
  const double cosine = rounded(std::cos(angle)), sine = rounded(std::sin(angle));
  const double y = static_cast<double>(height) / 2, x = static_cast<double>(width) / 2;
  return {.yy = cosine,
          .yx = -sine,
          .y0 = sine * x - cosine * y + y,
          .xy = sine,
          .xx = cosine,
          .x0 = -cosine * x - sine * y + x};
}

}  // namespace trainyard
