// A parallel loop over samples that may fail.
#pragma once

#include <cstdint>
#include <exception>
#include <mutex>

#include "base/parallel.h"

namespace trainyard {

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
