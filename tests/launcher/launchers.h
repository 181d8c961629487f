// Launchers whose results must be bit-identical, and data for them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "functors.h"
#include "launcher/launch.h"

namespace trainyard::test {

/// One to four threads, with the widest vectors and with narrow ones.
inline std::vector<CpuLauncher> launchers() {
  std::vector<CpuLauncher> list;
  for (int threads = 1; threads <= 4; ++threads) {
    list.emplace_back(threads, Vectors::widest);
    list.emplace_back(threads, Vectors::narrow);
  }
  return list;
}

/// Values in [-1, 1) whose sums round differently in every order.
inline std::vector<float> values(std::int64_t count) {
  std::vector<float> list(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] = 2 * uniform01(random4(7, RandomStream::synthetic, 0, 0, i).word[0]) - 1;
  }
  return list;
}

void launch_each(cudaStream_t stream, std::int64_t n, const Wave& functor);
void launch_rows(cudaStream_t stream, std::int64_t n, const RowSums& functor);
void launch_finished_rows(cudaStream_t stream, std::int64_t n, const TotalOfRows& functor,
                          std::uint32_t* finished);
void launch_columns(cudaStream_t stream, std::int64_t rows, std::int64_t columns,
                    const ColumnMoments& functor, Moments* partials, std::uint32_t* finished);

}  // namespace trainyard::test
