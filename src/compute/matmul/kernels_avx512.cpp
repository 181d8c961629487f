// Compiled for x86-64-v4.
#include "compute/matmul/panels.h"

namespace trainyard::product {

const Kernels kAvx512Kernels = kernels_of<Vector16>();

}  // namespace trainyard::product
