#include "compute/conv/weight_gradient/avx512.h"

namespace trainyard::direct {

const KernelList kAvx512Kernels = kTileList<Avx512>;

}  // namespace trainyard::direct
