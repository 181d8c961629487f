#include "ranks/comm/tree_sum.h"

#include <type_traits>

#include "base/error.h"
#include "base/half.h"

namespace trainyard {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements of each rank, which fit in the cache together

// Signed overflow is undefined; unsigned sums are bit-identical.
template <class T>
using SumOf = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, Arithmetic<T>>;

template <class From, class To>
void convert(const From* from, std::int64_t count, To* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

/// Sums block r of `ranks` blocks into block 0.
template <class S>
void sum_blocks(S* blocks, std::int64_t ranks, std::int64_t count) {
  for (std::int64_t stride = 1; stride < ranks; stride *= 2) {
    for (std::int64_t rank = 0; rank + stride < ranks; rank += 2 * stride) {
      S* const left = blocks + rank * kBlock;
      const S* const right = left + stride * kBlock;
      for (std::int64_t i = 0; i < count; ++i) left[i] += right[i];
    }
  }
}

}  // namespace

template <class T>
void TreeSum::run_as(std::span<const void* const> inputs, void* out, std::int64_t count) {
  const auto ranks = static_cast<std::int64_t>(inputs.size());
  const std::size_t needed = inputs.size() * kBlock * sizeof(SumOf<T>);
  if (scratch_.size() < needed) scratch_.resize(inputs.size() * kBlock * sizeof(double));
  auto* const blocks = reinterpret_cast<SumOf<T>*>(scratch_.data());
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t size = std::min(kBlock, count - begin);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      const auto* const input = static_cast<const T*>(inputs[static_cast<std::size_t>(rank)]);
      convert(input + begin, size, blocks + rank * kBlock);
    }
    sum_blocks(blocks, ranks, size);
    convert(blocks, size, static_cast<T*>(out) + begin);
  }
}

void TreeSum::run(std::span<const void* const> inputs, void* out, std::int64_t count, DType type) {
  TY_CHECK(type != DType::u8, "bytes are not all-reduced");
  if (type == DType::i32) return run_as<std::int32_t>(inputs, out, count);
  with_float_type(type, [&]<class T>(std::type_identity<T>) { run_as<T>(inputs, out, count); });
}

}  // namespace trainyard
