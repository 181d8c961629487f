// Vectors of floats with fused multiply-adds. Included only by the files that are compiled for the
// processors that have them.
#pragma once

#include <immintrin.h>

namespace trainyard::product {

#ifdef __AVX512F__
/// 16 floats of AVX-512.
struct Vector16 {
  static constexpr int kLanes = 16;
  __m512 value;

  static Vector16 load(const float* from) { return {_mm512_loadu_ps(from)}; }
  /// The first `count` of them, then zeros.
  static Vector16 load(const float* from, int count) {
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1), from)};
  }
  static Vector16 all(float x) { return {_mm512_set1_ps(x)}; }
  void store(float* to) const { _mm512_storeu_ps(to, value); }
  void store(float* to, int count) const {
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), value);
  }
  friend Vector16 operator+(Vector16 a, Vector16 b) { return {_mm512_add_ps(a.value, b.value)}; }
  friend Vector16 operator-(Vector16 a, Vector16 b) { return {_mm512_sub_ps(a.value, b.value)}; }
  friend Vector16 operator*(Vector16 a, Vector16 b) { return {_mm512_mul_ps(a.value, b.value)}; }
  /// a * b + c, rounded once.
  friend Vector16 fma(Vector16 a, Vector16 b, Vector16 c) {
    return {_mm512_fmadd_ps(a.value, b.value, c.value)};
  }
  /// 0 where a < 0; NaN and -0 stay. With a mask, since GCC 12 warns of the plain form's source.
  friend Vector16 relu(Vector16 a) {
    return {_mm512_maskz_max_ps(0xFFFF, _mm512_setzero_ps(), a.value)};
  }
};
#endif

/// 8 floats of AVX2.
struct Vector8 {
  static constexpr int kLanes = 8;
  __m256 value;

  static Vector8 load(const float* from) { return {_mm256_loadu_ps(from)}; }
  /// The first `count` of them, then zeros.
  static Vector8 load(const float* from, int count) {
    return {_mm256_maskload_ps(from, first(count))};
  }
  static Vector8 all(float x) { return {_mm256_set1_ps(x)}; }
  void store(float* to) const { _mm256_storeu_ps(to, value); }
  void store(float* to, int count) const { _mm256_maskstore_ps(to, first(count), value); }
  friend Vector8 operator+(Vector8 a, Vector8 b) { return {_mm256_add_ps(a.value, b.value)}; }
  friend Vector8 operator-(Vector8 a, Vector8 b) { return {_mm256_sub_ps(a.value, b.value)}; }
  friend Vector8 operator*(Vector8 a, Vector8 b) { return {_mm256_mul_ps(a.value, b.value)}; }
  /// a * b + c, rounded once.
  friend Vector8 fma(Vector8 a, Vector8 b, Vector8 c) {
    return {_mm256_fmadd_ps(a.value, b.value, c.value)};
  }
  /// 0 where a < 0; NaN and -0 stay.
  friend Vector8 relu(Vector8 a) { return {_mm256_max_ps(_mm256_setzero_ps(), a.value)}; }

 private:
  static __m256i first(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

}  // namespace trainyard::product
