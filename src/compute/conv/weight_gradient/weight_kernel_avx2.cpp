// For AVX2: 16 registers, of which 8 to 12 are sums.
#include <immintrin.h>

#include "compute/conv/weight_gradient/weight_kernel.h"

namespace trainyard::direct {
namespace {

struct Avx2 {
  using Vector = __m256;
  static constexpr int kLanes = 8;
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  static Vector broadcast(const float* p) { return _mm256_set1_ps(*p); }
  static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  static Vector add_values(Vector sum, const float* p) { return add(sum, load(p)); }
  static Vector multiply_add(Vector a, Vector b, Vector sum) { return _mm256_fmadd_ps(a, b, sum); }
};

constexpr TileKernel kKernels[] = {
    kKernel<Avx2, Steps::neighbours, 3, 2, 2>,    kKernel<Avx2, Steps::neighbours, 3, 1, 4>,
    kKernel<Avx2, Steps::neighbours, 2, 2, 2, 2>, kKernel<Avx2, Steps::neighbours, 2, 1, 4, 2>,
    kKernel<Avx2, Steps::alternate, 3, 2, 2>,     kKernel<Avx2, Steps::alternate, 3, 1, 4>,
    kKernel<Avx2, Steps::alternate, 2, 2, 2>,     kKernel<Avx2, Steps::alternate, 2, 1, 4>,
    kKernel<Avx2, Steps::planes, 3, 1, 4, 1>,     kKernel<Avx2, Steps::planes, 3, 1, 3, 4>,
    kKernel<Avx2, Steps::planes, 3, 1, 2, 4>,     kKernel<Avx2, Steps::planes, 3, 1, 1, 4>,
    kKernel<Avx2, Steps::planes, 2, 1, 4, 4>,     kKernel<Avx2, Steps::planes, 2, 1, 3, 4>,
    kKernel<Avx2, Steps::planes, 2, 1, 2, 4>,     kKernel<Avx2, Steps::planes, 2, 1, 1, 4>,
    kKernel<Avx2, Steps::blocks, 3, 2, 2>,        kKernel<Avx2, Steps::blocks, 3, 1, 4>,
    kKernel<Avx2, Steps::blocks, 2, 2, 2>,        kKernel<Avx2, Steps::blocks, 2, 1, 4>,
    kKernel<Avx2, Steps::blocks, 1, 3, 4>,        kKernel<Avx2, Steps::blocks, 1, 2, 4>,
    kKernel<Avx2, Steps::blocks, 1, 1, 8>,        kKernel<Avx2, Steps::any, 3, 1, 4>,
    kKernel<Avx2, Steps::any, 3, 1, 3>,           kKernel<Avx2, Steps::any, 3, 1, 2>,
    kKernel<Avx2, Steps::any, 3, 1, 1>,           kKernel<Avx2, Steps::any, 2, 1, 4>,
    kKernel<Avx2, Steps::any, 2, 1, 3>,           kKernel<Avx2, Steps::any, 2, 1, 2>,
    kKernel<Avx2, Steps::any, 2, 1, 1>,           kKernel<Avx2, Steps::any, 1, 1, 4>,
    kKernel<Avx2, Steps::any, 1, 1, 3>,           kKernel<Avx2, Steps::any, 1, 1, 2>,
    kKernel<Avx2, Steps::any, 1, 1, 1>,
};

}  // namespace

const KernelList kAvx2Kernels{Avx2::kLanes, kKernels,
                              static_cast<int>(sizeof kKernels / sizeof kKernels[0]),
                              &sum_filters<Avx2>};

}  // namespace trainyard::direct
