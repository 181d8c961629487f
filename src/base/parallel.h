// Parallel loops: OpenMP (one team shared with oneDNN), or std::thread in the tsan build; and one
// over samples that may fail.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

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

/// Calls work(i) for i in [0, count) on up to `threads` threads, then rethrows the error of the
/// smallest i that failed, so that the message does not depend on the number of threads.
template <class Work>
void each_sample(int threads, std::int64_t count, const Work& work) {
  std::mutex mutex;
  std::exception_ptr error;
  std::int64_t failed = count;
  parallel_ranges(threads, count, 1, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t i = begin;
    try {
      for (; i < end; ++i) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (i >= failed) return;
      failed = i;
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace trainyard
