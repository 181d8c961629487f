// For AVX512-BF16: as for AVX-512, with pairs of bf16 for floats. An instruction multiplies twice
// as many. It rounds each of the two sums to the nearest, and takes numbers below 2^-126 as 0.
#include "compute/conv/weight_gradient/avx512.h"

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

using Pairs [[gnu::vector_size(64)]] = std::uint32_t;

/// Values in the lower halves.
Pairs lower(const std::uint16_t* p) {
  constexpr __mmask16 kAll = 0xffff;  // GCC 12 warns of what is undefined without a mask
  const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return (Pairs)_mm512_maskz_cvtepu16_epi32(kAll, values);
}

}  // namespace

const KernelList kBf16Kernels = kTileList<Bf16Pairs>;

void pair_values(const ValuePairs& all) {
  const std::uint16_t *const first = all.first, *const second = all.second;
  float* const to = all.to;
  std::int64_t i = 0;
  for (; i + Bf16Pairs::kLanes <= all.values; i += Bf16Pairs::kLanes) {
    const Pairs upper = second == nullptr ? Pairs{} : lower(second + i) << 16;
    const Pairs pairs = lower(first + i) | upper;
    __builtin_memcpy(to + i, &pairs, sizeof pairs);
  }
  for (; i < all.values; ++i) {
    const std::uint32_t upper = second == nullptr ? 0 : second[i];
    const std::uint32_t pair = upper << 16 | first[i];
    __builtin_memcpy(to + i, &pair, sizeof pair);
  }
}

}  // namespace trainyard::direct
