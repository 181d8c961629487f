#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "bench/peaks.h"

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

constexpr std::size_t kLine = 64;  // bytes of a cache line

__attribute__((target("avx2"))) void stream_lines(std::byte* to, const std::byte* from,
                                                  std::int64_t lines) {
  for (std::int64_t line = 0; line < lines; ++line, to += kLine, from += kLine) {
    const auto* const source = reinterpret_cast<const __m256i*>(from);
    auto* const target = reinterpret_cast<__m256i*>(to);
    const __m256i low = _mm256_loadu_si256(source), high = _mm256_loadu_si256(source + 1);
    _mm256_stream_si256(target, low);
    _mm256_stream_si256(target + 1, high);
  }
  _mm_sfence();
}

}  // namespace

CopyWork threaded_copy(int threads) {
  return [threads](void* to, const void* from, std::size_t bytes) {
    auto* const target = static_cast<std::byte*>(to);
    const auto* const source = static_cast<const std::byte*>(from);
    const std::size_t whole = bytes / kLine * kLine;
    parallel_ranges(threads, static_cast<std::int64_t>(bytes / kLine), 1,
                    [&](std::int64_t first, std::int64_t last) {
                      const std::size_t begin = static_cast<std::size_t>(first) * kLine;
                      stream_lines(target + begin, source + begin, last - first);
                    });
    std::memcpy(target + whole, source + whole, bytes - whole);
  };
}

double measure_peak_gflops(int threads, const SecondsNow& now) {
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
    // The sums are never negative; using them keeps the loops from being optimised away.
    if (sink[0] < 0) return 0;
    best = std::max(best, 2.0 * lanes * kChains * kRounds * threads / seconds * 1e-9);
  }
  return best;
}

}  // namespace trainyard
