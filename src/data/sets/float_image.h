// A sample of any values with the shape of an image, and how it is drawn.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "data/images/image.h"
#include "data/sets/dataset.h"
#include "tensor/shape.h"

namespace trainyard {

/// An image [c, h, w] in float.
struct FloatImage {
  Shape shape;
  std::vector<float> values;
};

/// Sample `index` as its source gives it. Throws as Dataset::read().
[[nodiscard]] FloatImage image_of(const Dataset& set, std::int64_t index);

/// A range of values.
struct ValueRange {
  float least = std::numeric_limits<float>::max(), most = std::numeric_limits<float>::lowest();
  double sum = 0;
  std::int64_t count = 0;

  void take(const std::vector<float>& values);
};

/// The drawing in which 0..255 are the values of `range`, rounded and cut: coloured with 3
/// channels, else grey, of the first one.
[[nodiscard]] Image colored(const FloatImage& sample, const ValueRange& range);

}  // namespace trainyard
