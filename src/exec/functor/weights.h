// Conversion of convolution weights between the flat blocks and the layout that tensor cores read.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"

namespace trainyard {

/// A weight in the flat block, [filters, channels, height, width], and packed: [padded_filters,
/// height, width, padded_channels], padding zero. Channels are those of one group.
struct WeightShape {
  std::int64_t filters = 1, channels = 1, height = 1, width = 1;
  std::int64_t padded_filters = 1, padded_channels = 1;

  [[nodiscard]] TY_HD std::int64_t plain_elements() const {
    return filters * channels * height * width;
  }
  [[nodiscard]] TY_HD std::int64_t packed_elements() const {
    return padded_filters * height * width * padded_channels;
  }
  /// True if both orders are the same.
  [[nodiscard]] bool same_order() const {
    return filters == padded_filters && channels == padded_channels &&
           (height * width == 1 || channels == 1);
  }
};

/// Packs, rounding to T once. One call per element of `to`.
template <class T>
struct PackWeights {
  WeightShape shape;
  const Arithmetic<T>* from;
  T* to;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t c = i % shape.padded_channels, tap = i / shape.padded_channels;
    const std::int64_t w = tap % shape.width, row = tap / shape.width;
    const std::int64_t h = row % shape.height, f = row / shape.height;
    const bool padding = c >= shape.channels || f >= shape.filters;
    const std::int64_t plain = ((f * shape.channels + c) * shape.height + h) * shape.width + w;
    to[i] = padding ? T{} : static_cast<T>(from[plain]);
  }
};

/// The reverse, for gradients; padding is left out. One call per element of `to`.
template <class T>
struct UnpackWeights {
  WeightShape shape;
  const T* from;
  Arithmetic<T>* to;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t w = i % shape.width, row = i / shape.width;
    const std::int64_t h = row % shape.height, map = row / shape.height;
    const std::int64_t c = map % shape.channels, f = map / shape.channels;
    to[i] = static_cast<Arithmetic<T>>(
        from[((f * shape.height + h) * shape.width + w) * shape.padded_channels + c]);
  }
};

}  // namespace trainyard
