#include "ops/channel_sums.h"

#include "launcher/columns.h"

namespace trainyard {

std::size_t channel_sum_bytes(const Shape& shape) {
  const std::int64_t rows = size_product({shape.n(), shape.h(), shape.w()});
  const std::int64_t size = sizeof(PairSum);
  return static_cast<std::size_t>(size_product({column_chunks(rows), shape.c(), size}));
}

std::size_t map_sum_bytes(const Shape& shape) {
  const std::int64_t chunks = 1 + column_chunks(size_product({shape.h(), shape.w()}));
  const std::int64_t maps = most_elements({shape.n(), shape.c(), 1, 1});
  return static_cast<std::size_t>(size_product({chunks, maps, sizeof(PairSum)}));
}

}  // namespace trainyard
