#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/host.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace trainyard {

bool processor_has_avx512() { return __builtin_cpu_supports("x86-64-v4"); }

void require_supported_processor() {
  if (__builtin_cpu_supports("x86-64-v3")) return;
  throw device_error(
      "this processor lacks AVX2 or FMA (x86-64-v3), which train requires on the CPU; use a "
      "processor from 2015 or later");
}

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return whole_cores(CPU_COUNT(&set), processor_quota());
}

void set_threads([[maybe_unused]] int threads) {
#if defined(_OPENMP)
  omp_set_num_threads(threads);
#endif
}

void parallel_ranges_raw(int threads, std::int64_t n, std::int64_t grain, RangeFunction function,
                         void* context) {
  const std::int64_t parts = std::min<std::int64_t>(threads, (n + grain - 1) / grain);
  if (parts <= 1) {
    if (n > 0) function(context, 0, n);
    return;
  }
#if defined(_OPENMP)
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
  for (std::int64_t part = 0; part < parts; ++part) {
    function(context, n * part / parts, n * (part + 1) / parts);
  }
#else
  std::vector<std::jthread> team;
  for (std::int64_t part = 0; part < parts; ++part) {
    team.emplace_back(function, context, n * part / parts, n * (part + 1) / parts);
  }
#endif
}

}  // namespace trainyard
