// What the functors of ops need at most, from shapes alone: memory is forecast from it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/shape.h"

namespace trainyard {

/// The most elements that a tensor of this shape has in any layout, padding included.
[[nodiscard]] std::int64_t most_elements(const Shape& shape);
/// Bytes of workspace for pairs of sums over the pixels of each channel of all samples
/// (sum_channels()).
[[nodiscard]] std::size_t channel_sum_bytes(const Shape& shape);
/// The same for each channel of each sample (sum_maps()): of the sums and, after them, of the work.
[[nodiscard]] std::size_t map_sum_bytes(const Shape& shape);

}  // namespace trainyard
