// Vectors of AVX-512 for weight_kernel.h. Included only by files that are compiled for it.
#pragma once

#include <immintrin.h>

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

}  // namespace
}  // namespace trainyard::direct
