// Replaces src/launcher/global_timer.cuh for kernels that run on the host (grid.h): time advances
// by 1 whenever it is read.
#pragma once

namespace trainyard {

inline unsigned long long global_nanoseconds() {
  static unsigned long long now = 0;
  return ++now;
}

}  // namespace trainyard
