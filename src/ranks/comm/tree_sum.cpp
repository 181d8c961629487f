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

template <class T>
void upcast(const T* from, std::int64_t count, SumOf<T>* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<SumOf<T>>(from[i]);
}

template <class T>
void downcast(const SumOf<T>* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
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
      upcast(input + begin, size, blocks + rank * kBlock);
    }
    sum_blocks(blocks, ranks, size);
    downcast(blocks, size, static_cast<T*>(out) + begin);
  }
}

void TreeSum::run(std::span<const void* const> inputs, void* out, std::int64_t count, DType type) {
  switch (type) {
    case DType::f64:
      return run_as<double>(inputs, out, count);
    case DType::f32:
      return run_as<float>(inputs, out, count);
    case DType::f16:
      return run_as<Float16>(inputs, out, count);
    case DType::bf16:
      return run_as<BFloat16>(inputs, out, count);
    case DType::i32:
      return run_as<std::int32_t>(inputs, out, count);
    case DType::u8:
      break;
  }
  TY_CHECK(false, "bytes are not all-reduced");
}

}  // namespace trainyard
