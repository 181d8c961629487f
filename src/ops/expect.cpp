#include "ops/expect.h"

#include <fmt/format.h>

namespace trainyard {

void require_images(const Shape& shape) {
  if (shape.rank() == 4) return;
  throw ShapeError(
      fmt::format("expects images [batch, channels, height, width], found {}", shape.text()));
}

void require_sequence(const Shape& shape) {
  if (shape.rank() == 4 && shape.h() == 1) return;
  throw ShapeError(
      fmt::format("expects a sequence [batch, channels, 1, steps], found {}; begin "
                  "with input: {{steps: ..., features: ...}}, embedding or one_hot",
                  shape.text()));
}

void require_mask(const Shape& sequence, const Shape& mask) {
  const Shape wanted{sequence.n(), sequence.w()};
  if (mask == wanted) return;
  throw ShapeError(
      fmt::format("expects a mask {} of its steps, found {}", wanted.text(), mask.text()));
}

void require_features_or_images(const Shape& shape) {
  if (shape.rank() == 4 || shape.rank() == 2) return;
  throw ShapeError(
      fmt::format("expects features [batch, channels] or images [batch, channels, "
                  "height, width], found {}",
                  shape.text()));
}

void require_groups(const char* what, std::int64_t channels, std::int64_t groups) {
  if (channels % groups == 0) return;
  throw ShapeError(fmt::format("{} {} are not divisible by {} groups", channels, what, groups));
}

}  // namespace trainyard
