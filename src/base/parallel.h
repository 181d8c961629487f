// Parallel loops: OpenMP (one team shared with oneDNN), or std::thread in the tsan build.
#pragma once

#include <cstdint>
#include <utility>

namespace trainyard {

/// True if the processor is x86-64-v4 (AVX-512 F, BW, CD, DQ, VL).
[[nodiscard]] bool processor_has_avx512();
/// Throws Error{device} on processors older than x86-64-v3 (AVX2, FMA), with the reason.
void require_supported_processor();
/// Cores that this process may use, given its affinity and the quota of its control groups.
[[nodiscard]] int available_cores();
/// Sets the team size of our loops and oneDNN for the calling thread.
void set_threads(int threads);

/// A range function that needs no allocation: calls function(context, begin, end).
using RangeFunction = void (*)(void* context, std::int64_t begin, std::int64_t end);
/// Splits [0, n) into at most `threads` equal ranges of at least `grain` and runs them.
void parallel_ranges_raw(int threads, std::int64_t n, std::int64_t grain, RangeFunction function,
                         void* context);

/// As above for any callable f(begin, end). The split must not change results.
template <class F>
void parallel_ranges(int threads, std::int64_t n, std::int64_t grain, F&& f) {
  parallel_ranges_raw(
      threads, n, grain,
      [](void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<std::remove_reference_t<F>*>(context))(begin, end);
      },
      &f);
}

}  // namespace trainyard
