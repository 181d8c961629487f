// Replaces src/launcher/predecessors.cuh for kernels that run on the host (grid.h): launches run
// one after the other, and a kernel is checked to wait as if it had begun early.
#pragma once

#include "grid.h"

namespace trainyard {

inline void wait_for_predecessors() { emulated::wait_for_launches(); }

}  // namespace trainyard
