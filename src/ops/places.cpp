#include "ops/places.h"

#include "kernels/columns.h"

namespace trainyard {

std::size_t channel_sum_bytes(const Shape& shape) {
  const std::int64_t rows = size_product({shape.n(), shape.h(), shape.w()});
  const std::int64_t size = sizeof(PairSum);
  return static_cast<std::size_t>(size_product({column_chunks(rows), shape.c(), size}));
}

std::int64_t most_elements(const Shape& shape) {
  constexpr std::int64_t kBlock = 16;  // the largest block of channels
  const std::int64_t blocks = (shape.c() + kBlock - 1) / kBlock;
  return size_product({shape.n(), blocks, kBlock, shape.h(), shape.w()});
}

}  // namespace trainyard
