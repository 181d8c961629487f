#include "ops/expect.h"

#include <fmt/format.h>

#include "ops/window.h"

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

void require_tokens(std::string_view op, const Shape& shape) {
  if (shape.rank() == 2) return;
  throw ShapeError(fmt::format("{} needs tokens [n, t], found {}", op, shape.text()));
}

void declare_vocabulary(config::Fields& fields, std::int64_t& vocabulary) {
  fields.field("vocabulary", vocabulary, "number of tokens; default: that of the network's input",
               {.minimum = 1, .maximum = kMostChannels});
}

}  // namespace trainyard
