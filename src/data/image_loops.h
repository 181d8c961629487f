// Runs the image functors in the calling thread: a worker owns its sample, so nothing is shared.
#pragma once

#include "data/image_functors.h"
#include "kernels/launch.h"

namespace trainyard {

template <class F>
void run_rows(std::int64_t rows, const F& functor) {
  for (std::int64_t row = 0; row < rows; ++row) functor(CpuTeam{}, row);
}

template <class F>
void run_each(std::int64_t count, const F& functor) {
  for (std::int64_t i = 0; i < count; ++i) functor(i);
}

}  // namespace trainyard
