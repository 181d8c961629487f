#include "ops/most_bytes.h"

#include "tensor/launch_limits.h"

namespace trainyard {
namespace {

constexpr std::int64_t kPairBytes = 2 * sizeof(double);

}  // namespace

std::int64_t most_elements(const Shape& shape) {
  constexpr std::int64_t kBlock = 16;  // the largest block of channels
  const std::int64_t blocks = (shape.c() + kBlock - 1) / kBlock;
  return size_product({shape.n(), blocks, kBlock, shape.h(), shape.w()});
}

std::size_t channel_sum_bytes(const Shape& shape) {
  const std::int64_t rows = size_product({shape.n(), shape.h(), shape.w()});
  return static_cast<std::size_t>(size_product({column_chunks(rows), shape.c(), kPairBytes}));
}

std::size_t map_sum_bytes(const Shape& shape) {
  const std::int64_t chunks = 1 + column_chunks(size_product({shape.h(), shape.w()}));
  const std::int64_t maps = most_elements({shape.n(), shape.c(), 1, 1});
  return static_cast<std::size_t>(size_product({chunks, maps, kPairBytes}));
}

}  // namespace trainyard
