// Replaces src/launcher/mma.cuh for kernels that run on the host (grid.h): the same product, from
// the parts that the lanes of a warp hold.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "base/math.h"

namespace trainyard {
namespace emulated {

/// What the lanes of a warp hold.
struct WarpFactors {
  std::uint32_t a[kWarp][4], b[kWarp][2];
};

/// One of the two numbers of T in 32 bits.
template <class T>
float half_of(std::uint32_t both, unsigned odd) {
  T value;
  value.bits = static_cast<std::uint16_t>(both >> (odd * 16));
  return static_cast<float>(value);
}

template <class T>
float element_a(const WarpFactors& warp, unsigned row, unsigned k) {
  return half_of<T>(warp.a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2], k % 2);
}

template <class T>
float element_b(const WarpFactors& warp, unsigned k, unsigned column) {
  return half_of<T>(warp.b[column * 4 + k % 8 / 2][k / 8], k % 2);
}

}  // namespace emulated

template <class T>
void multiply_add_16x8x16(float (&sums)[4], const std::uint32_t (&a)[4],
                          const std::uint32_t (&b)[2]) {
  static emulated::WarpFactors warps[emulated::kMostThreads / emulated::kWarp];
  emulated::WarpFactors& warp = warps[threadIdx.x / emulated::kWarp];
  const unsigned lane = threadIdx.x % emulated::kWarp;
  for (unsigned i = 0; i < 4; ++i) warp.a[lane][i] = a[i];
  for (unsigned i = 0; i < 2; ++i) warp.b[lane][i] = b[i];
  static_cast<void>(emulated::shuffle_down(0xffffffffu, 0, 0));  // all lanes have written
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      sums[i] += emulated::element_a<T>(warp, row, k) * emulated::element_b<T>(warp, k, column);
    }
  }
  static_cast<void>(emulated::shuffle_down(0xffffffffu, 0, 0));  // all lanes have read
}

}  // namespace trainyard
