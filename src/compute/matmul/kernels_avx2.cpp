// Compiled for x86-64-v3.
#include "compute/matmul/panels.h"

namespace trainyard::product {

const Kernels kAvx2Kernels = kernels_of<Vector8>();

}  // namespace trainyard::product
