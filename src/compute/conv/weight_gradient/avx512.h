// Vectors of AVX-512, and the kernels of weight_kernel.h for them. Included only by files that are
// compiled for it.
#pragma once

#include <immintrin.h>

#include <iterator>

#include "compute/conv/weight_gradient/weight_kernel.h"

namespace trainyard::direct {
namespace {

struct Avx512 {
  using Vector = __m512;
  static constexpr int kLanes = 16;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  static Vector broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  static Vector add_values(Vector sum, const float* p) { return add(sum, load(p)); }
  static Vector multiply_add(Vector a, Vector b, Vector sum) { return _mm512_fmadd_ps(a, b, sum); }
};

/// Sums take 16 to 24 of 32 registers. A broadcast serves two vectors of filters where there are
/// two; three columns of those, or four of one, take the other registers.
template <class Simd>
inline constexpr TileKernel kTiles[] = {
    kKernel<Simd, Steps::neighbours, 3, 2, 4, 3>, kKernel<Simd, Steps::neighbours, 3, 1, 8, 4>,
    kKernel<Simd, Steps::neighbours, 2, 2, 4, 3>, kKernel<Simd, Steps::neighbours, 2, 1, 8, 4>,
    kKernel<Simd, Steps::alternate, 3, 2, 4, 2>,  kKernel<Simd, Steps::alternate, 3, 1, 8, 4>,
    kKernel<Simd, Steps::alternate, 2, 2, 4, 2>,  kKernel<Simd, Steps::alternate, 2, 1, 8, 4>,
    kKernel<Simd, Steps::planes, 3, 1, 4, 4>,     kKernel<Simd, Steps::planes, 3, 1, 3, 4>,
    kKernel<Simd, Steps::planes, 3, 1, 2, 4>,     kKernel<Simd, Steps::planes, 3, 1, 1, 4>,
    kKernel<Simd, Steps::planes, 2, 1, 4, 4>,     kKernel<Simd, Steps::planes, 2, 1, 3, 4>,
    kKernel<Simd, Steps::planes, 2, 1, 2, 4>,     kKernel<Simd, Steps::planes, 2, 1, 1, 4>,
    kKernel<Simd, Steps::blocks, 3, 2, 4>,        kKernel<Simd, Steps::blocks, 3, 1, 8>,
    kKernel<Simd, Steps::blocks, 2, 2, 8>,        kKernel<Simd, Steps::blocks, 2, 1, 8>,
    kKernel<Simd, Steps::blocks, 1, 3, 8>,        kKernel<Simd, Steps::blocks, 1, 2, 8>,
    kKernel<Simd, Steps::blocks, 1, 1, 16>,       kKernel<Simd, Steps::any, 3, 1, 4>,
    kKernel<Simd, Steps::any, 3, 1, 3>,           kKernel<Simd, Steps::any, 3, 1, 2>,
    kKernel<Simd, Steps::any, 3, 1, 1>,           kKernel<Simd, Steps::any, 2, 1, 4>,
    kKernel<Simd, Steps::any, 2, 1, 3>,           kKernel<Simd, Steps::any, 2, 1, 2>,
    kKernel<Simd, Steps::any, 2, 1, 1>,           kKernel<Simd, Steps::any, 1, 1, 4>,
    kKernel<Simd, Steps::any, 1, 1, 3>,           kKernel<Simd, Steps::any, 1, 1, 2>,
    kKernel<Simd, Steps::any, 1, 1, 1>,
};

template <class Simd>
inline constexpr KernelList kTileList{
    Simd::kLanes, kTiles<Simd>, static_cast<int>(std::size(kTiles<Simd>)), &sum_filters<Simd>};

}  // namespace
}  // namespace trainyard::direct
