#include "data/sets/float_image.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

FloatImage image_of(const Dataset& set, std::int64_t index) {
  FloatImage image{set.sample_shape(index), {}};
  image.values.resize(static_cast<std::size_t>(image.shape.elements()));
  set.read(index, image.values.data());
  return image;
}

void ValueRange::take(const std::vector<float>& values) {
  for (const float value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  count += std::ssize(values);
}

Image colored(const FloatImage& sample, const ValueRange& range) {
  const ImageSize size{sample.shape[1], sample.shape[2]};
  const std::int64_t planes = sample.shape[0];
  Image image(size, planes == 3 ? 3 : 1);
  const float scale = range.most > range.least ? 255 / (range.most - range.least) : 1;
  for (std::int64_t i = 0; i < size.pixels(); ++i) {
    for (int c = 0; c < image.channels(); ++c) {
      const float value = sample.values[static_cast<std::size_t>(c * size.pixels() + i)];
      const float color = std::round((value - range.least) * scale);
      image.row(0)[i * image.channels() + c] =
          static_cast<std::uint8_t>(std::clamp(color, 0.0f, 255.0f));
    }
  }
  return image;
}

}  // namespace trainyard
