// For AVX-512: 32 registers, of which 16 to 24 are sums.
#include "exec/direct/avx512.h"
#include "exec/direct/weight_kernel.h"

namespace trainyard::direct {
namespace {

constexpr TileKernel kKernels[] = {
    kKernel<Avx512, Steps::neighbours, 3, 1, 8, 4>, kKernel<Avx512, Steps::neighbours, 2, 1, 8, 4>,
    kKernel<Avx512, Steps::alternate, 3, 2, 4, 2>,  kKernel<Avx512, Steps::alternate, 3, 1, 8, 4>,
    kKernel<Avx512, Steps::alternate, 2, 2, 4, 2>,  kKernel<Avx512, Steps::alternate, 2, 1, 8, 4>,
    kKernel<Avx512, Steps::planes, 3, 1, 4, 4>,     kKernel<Avx512, Steps::planes, 3, 1, 3, 4>,
    kKernel<Avx512, Steps::planes, 3, 1, 2, 4>,     kKernel<Avx512, Steps::planes, 3, 1, 1, 4>,
    kKernel<Avx512, Steps::planes, 2, 1, 4, 4>,     kKernel<Avx512, Steps::planes, 2, 1, 3, 4>,
    kKernel<Avx512, Steps::planes, 2, 1, 2, 4>,     kKernel<Avx512, Steps::planes, 2, 1, 1, 4>,
    kKernel<Avx512, Steps::blocks, 3, 2, 4>,        kKernel<Avx512, Steps::blocks, 3, 1, 8>,
    kKernel<Avx512, Steps::blocks, 2, 2, 8>,        kKernel<Avx512, Steps::blocks, 2, 1, 8>,
    kKernel<Avx512, Steps::blocks, 1, 3, 8>,        kKernel<Avx512, Steps::blocks, 1, 2, 8>,
    kKernel<Avx512, Steps::blocks, 1, 1, 16>,       kKernel<Avx512, Steps::any, 3, 1, 4>,
    kKernel<Avx512, Steps::any, 3, 1, 3>,           kKernel<Avx512, Steps::any, 3, 1, 2>,
    kKernel<Avx512, Steps::any, 3, 1, 1>,           kKernel<Avx512, Steps::any, 2, 1, 4>,
    kKernel<Avx512, Steps::any, 2, 1, 3>,           kKernel<Avx512, Steps::any, 2, 1, 2>,
    kKernel<Avx512, Steps::any, 2, 1, 1>,           kKernel<Avx512, Steps::any, 1, 1, 4>,
    kKernel<Avx512, Steps::any, 1, 1, 3>,           kKernel<Avx512, Steps::any, 1, 1, 2>,
    kKernel<Avx512, Steps::any, 1, 1, 1>,
};

}  // namespace

const KernelList kAvx512Kernels{Avx512::kLanes, kKernels,
                                static_cast<int>(sizeof kKernels / sizeof kKernels[0]),
                                &sum_filters<Avx512>};

}  // namespace trainyard::direct
