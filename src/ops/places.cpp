#include "ops/places.h"

#include "kernels/columns.h"

namespace trainyard {

std::size_t channel_sum_bytes(const Layout& layout) {
  const std::int64_t rows = layout.extent[0] * layout.extent[2] * layout.extent[3];
  return static_cast<std::size_t>(column_partials(rows, layout.extent[1])) * sizeof(PairSum);
}

}  // namespace trainyard
