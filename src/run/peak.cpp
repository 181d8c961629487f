#include <immintrin.h>

#include <algorithm>

#include "base/parallel.h"
#include "run/bench.h"

namespace trainyard {
namespace {

constexpr int kChains = 12;  // independent chains hide the latency of a fused multiply-add

__attribute__((target("avx512f"))) float fma_loop_avx512(std::int64_t rounds) {
  __m512 sums[kChains];
  const __m512 factor = _mm512_set1_ps(0.999f);
  const __m512 term = _mm512_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m512& sum : sums) {
    alignas(64) float lanes[16];
    _mm512_store_ps(lanes, sum);
    for (const float lane : lanes) total += lane;
  }
  return total;
}

__attribute__((target("avx2,fma"))) float fma_loop_avx2(std::int64_t rounds) {
  __m256 sums[kChains];
  const __m256 factor = _mm256_set1_ps(0.999f);
  const __m256 term = _mm256_set1_ps(0.001f);
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, term);
  }
  float total = 0;
  for (const __m256& sum : sums) {
    alignas(32) float lanes[8];
    _mm256_store_ps(lanes, sum);
    for (const float lane : lanes) total += lane;
  }
  return total;
}

}  // namespace

double measure_peak_gflops(int threads, const std::function<double()>& now) {
  constexpr std::int64_t kRounds = 4'000'000;
  const bool wide = processor_has_avx512();
  const double lanes = wide ? 16 : 8;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<float> sink(static_cast<std::size_t>(threads));
    const double begin = now();
    parallel_ranges(threads, threads, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t thread = first; thread < last; ++thread) {
        sink[thread] = wide ? fma_loop_avx512(kRounds) : fma_loop_avx2(kRounds);
      }
    });
    const double seconds = now() - begin;
    // The sums are never negative; using them keeps the loops alive.
    if (sink[0] < 0) return 0;
    best = std::max(best, 2.0 * lanes * kChains * kRounds * threads / seconds * 1e-9);
  }
  return best;
}

}  // namespace trainyard
