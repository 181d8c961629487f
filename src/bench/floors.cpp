#include "bench/floors.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {

double Floors::milliseconds() const {
  return std::max({arithmetic_milliseconds, memory_milliseconds, latency_milliseconds.value_or(0)});
}

Floors floors_of(const StepCounts& counts, const Peaks& peaks) {
  TY_CHECK(peaks.gflops > 0 && peaks.gigabytes_per_second > 0, "peaks are measured");
  Floors floors{.arithmetic_milliseconds = 1e3 * counts.gflop / peaks.gflops,
                .memory_milliseconds = 1e3 * counts.gigabytes / peaks.gigabytes_per_second};
  if (peaks.launch_microseconds) {
    floors.latency_milliseconds =
        1e-3 * static_cast<double>(counts.launches) * *peaks.launch_microseconds;
  }
  return floors;
}

}  // namespace trainyard
