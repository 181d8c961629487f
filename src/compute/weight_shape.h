// Which parameters a step reads, and which gradients it writes, in the storage type and the order
// of a GPU's libraries instead of plain f32. On a device that packs weights (Target::packs_weights)
// these are what its executors find in StepTensors::parameters and parameter_gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/executor.h"

namespace trainyard {

/// A weight in the flat block, [filters, channels, height, width], and packed: [padded_filters,
/// height, width, padded_channels], padding zero, or, turned for a gradient of the input,
/// [padded_channels, height, width, padded_filters], the window back to front. Channels are those
/// of one group. A vector or a matrix that is only rounded has no window and no padding.
struct WeightShape {
  /// Distances of packed elements from one filter, channel or window position to the next, and the
  /// offset of the first.
  struct Strides {
    std::int64_t filter, channel, place, origin;
  };

  std::int64_t filters = 1, channels = 1, height = 1, width = 1;
  std::int64_t padded_filters = 1, padded_channels = 1;
  bool turned = false;

  [[nodiscard]] std::int64_t plain_elements() const { return filters * channels * height * width; }
  [[nodiscard]] std::int64_t packed_elements() const {
    return padded_filters * height * width * padded_channels;
  }
  /// True if both orders are the same.
  [[nodiscard]] bool same_order() const {
    return !turned && filters == padded_filters && channels == padded_channels &&
           (height * width == 1 || channels == 1);
  }
  [[nodiscard]] Strides strides() const {
    const std::int64_t places = height * width, row = turned ? padded_filters : padded_channels;
    if (turned) return {1, places * row, -row, (places - 1) * row};
    return {places * row, 1, row, 0};
  }
  bool operator==(const WeightShape&) const = default;
};

/// A parameter that is rounded in its own order.
[[nodiscard]] inline WeightShape rounded_shape(const Shape& shape) {
  const std::int64_t elements = shape.elements();
  return {.channels = elements, .padded_channels = elements};
}

/// True if the weights of the flat block are the packed ones.
[[nodiscard]] inline bool is_direct(const WeightShape& shape, DType storage) {
  return storage == DType::f32 && shape.same_order();
}

/// A packed parameter of a step, or its gradient.
struct PackedParameter {
  std::size_t index = 0;  // index in the op's parameters
  WeightShape shape;
  bool keeps_plain = false;  // the step reads both: the packed one follows all parameters
  bool operator==(const PackedParameter&) const = default;
};

/// The parameters that the executor of a step reads packed.
[[nodiscard]] std::vector<PackedParameter> packed_parameters(const StepDescription& step);
/// The parameters whose gradients the executor of a step writes packed.
[[nodiscard]] std::vector<PackedParameter> packed_gradients(const StepDescription& step);

}  // namespace trainyard
