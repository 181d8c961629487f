// For AVX512-BF16: as for AVX-512, with pairs of bf16 for floats. An instruction multiplies twice
// as many. It rounds each of the two sums to the nearest, and takes numbers below 2^-126 as 0.
#include "exec/direct/avx512.h"
#include "exec/direct/weight_kernel.h"

namespace trainyard::direct {
namespace {

struct Bf16Pairs : Avx512 {
  static Vector multiply_add(Vector a, Vector b, Vector sum) {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }
  static Vector add_values(Vector sum, const float* p) {
    const __m512i ones = _mm512_set1_epi16(0x3f80);
    return multiply_add(load(p), _mm512_castsi512_ps(ones), sum);
  }
};

constexpr std::int64_t kAhead = 2048;  // values that are prefetched: a page, which takes longest

constexpr TileKernel kKernels[] = {
    kKernel<Bf16Pairs, Steps::alternate, 3, 2, 4, 2>,
    kKernel<Bf16Pairs, Steps::alternate, 3, 1, 8, 4>,
    kKernel<Bf16Pairs, Steps::alternate, 2, 2, 4, 2>,
    kKernel<Bf16Pairs, Steps::alternate, 2, 1, 8, 4>,
    kKernel<Bf16Pairs, Steps::blocks, 3, 3, 2>,
    kKernel<Bf16Pairs, Steps::blocks, 3, 2, 4>,
    kKernel<Bf16Pairs, Steps::blocks, 3, 1, 8>,
    kKernel<Bf16Pairs, Steps::blocks, 2, 2, 8>,
    kKernel<Bf16Pairs, Steps::blocks, 2, 1, 8>,
    kKernel<Bf16Pairs, Steps::blocks, 1, 3, 8>,
    kKernel<Bf16Pairs, Steps::blocks, 1, 2, 8>,
    kKernel<Bf16Pairs, Steps::blocks, 1, 1, 16>,
    kKernel<Bf16Pairs, Steps::any, 3, 1, 4>,
    kKernel<Bf16Pairs, Steps::any, 3, 1, 3>,
    kKernel<Bf16Pairs, Steps::any, 3, 1, 2>,
    kKernel<Bf16Pairs, Steps::any, 3, 1, 1>,
    kKernel<Bf16Pairs, Steps::any, 2, 1, 4>,
    kKernel<Bf16Pairs, Steps::any, 2, 1, 3>,
    kKernel<Bf16Pairs, Steps::any, 2, 1, 2>,
    kKernel<Bf16Pairs, Steps::any, 2, 1, 1>,
    kKernel<Bf16Pairs, Steps::any, 1, 1, 4>,
    kKernel<Bf16Pairs, Steps::any, 1, 1, 3>,
    kKernel<Bf16Pairs, Steps::any, 1, 1, 2>,
    kKernel<Bf16Pairs, Steps::any, 1, 1, 1>,
};

}  // namespace

const KernelList kBf16Kernels{Bf16Pairs::kLanes, kKernels,
                              static_cast<int>(sizeof kKernels / sizeof kKernels[0]),
                              &sum_filters<Bf16Pairs>};

void pair_values(const ValuePairs& all) {
  constexpr std::int64_t kLanes = Bf16Pairs::kLanes;
  using Half [[gnu::vector_size(32)]] = std::uint16_t;
  const auto half = [](const std::uint16_t* p) {
    Half values;
    __builtin_memcpy(&values, p, sizeof values);
    __builtin_prefetch(p + kAhead);
    return values;
  };
  float* to = all.to;
  for (std::int64_t group = 0; group < all.groups; ++group) {
    const std::uint16_t* const first = all.first + group * all.step;
    const std::uint16_t* const second = all.second + group * all.step;
    std::int64_t i = 0;
    for (; i + kLanes <= all.values; i += kLanes, to += kLanes) {
      const auto pairs = __builtin_shufflevector(                  //
          half(first + i), half(second + i),                       //
          0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23,  //
          8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      __builtin_memcpy(to, &pairs, sizeof pairs);
    }
    for (; i < all.values; ++i, ++to) {
      const std::uint32_t pair = std::uint32_t{second[i]} << 16 | first[i];
      __builtin_memcpy(to, &pair, sizeof pair);
    }
  }
}

}  // namespace trainyard::direct
