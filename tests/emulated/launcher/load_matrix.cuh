// Replaces tests/probe/gpu/launcher/load_matrix.cuh for kernels that run on the host (grid.h).
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace trainyard {

template <bool kTransposed = false>
void load_matrices(std::uint32_t (&words)[4], const void* row) {
  using namespace emulated;
  static const std::uint16_t* rows[kMostThreads];
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
    throw Misuse("a row of a matrix is not aligned to 16 bytes");
  }
  const unsigned lane = threadIdx.x % kWarp;
  const std::uint16_t** const warp = rows + threadIdx.x / kWarp * kWarp;
  warp[lane] = static_cast<const std::uint16_t*>(row);
  static_cast<void>(shuffle_down(0xffffffffu, 0, 0));  // all lanes have written
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned along = lane / 4, first = lane % 4 * 2;
    const auto number = [&](unsigned k) -> std::uint32_t {
      return kTransposed ? warp[i * 8 + first + k][along] : warp[i * 8 + along][first + k];
    };
    words[i] = number(0) | number(1) << 16;
  }
  static_cast<void>(shuffle_down(0xffffffffu, 0, 0));  // all lanes have read
}

}  // namespace trainyard
