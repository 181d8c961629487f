// Which lane has what after the instructions that the kernels and their emulator (tests/emulated)
// must understand alike: ldmatrix, mma, and both shuffles.
#pragma once

#include <cuda_runtime.h>

#include "lane_words.h"
#include "launcher/cuda_columns.cuh"
#include "launcher/load_matrix.cuh"
#include "launcher/mma.cuh"

namespace trainyard::probe {

/// Adds a product to the lane's sums, and writes their bits.
template <class T>
__device__ std::uint32_t* write_product(const std::uint32_t* factors, const std::uint32_t* sums,
                                        std::uint32_t* to) {
  const std::uint32_t a[4] = {factors[0], factors[1], factors[2], factors[3]};
  const std::uint32_t b[2] = {factors[4], factors[5]};
  float total[4];
  std::memcpy(total, sums, sizeof(total));
  multiply_add_16x8x16<T>(total, a, b);
  std::memcpy(to, total, sizeof(total));
  return to + 4;
}

/// To be included once in a program. A block is a warp. `from` is [warps, kWarpInputs], `to`
/// [warps, lanes, kLaneOutputs].
__global__ void lane_maps_kernel(const std::uint32_t* from, std::uint32_t* to) {
  alignas(16) __shared__ std::uint32_t rows[kMatrixWords];
  const unsigned lane = threadIdx.x;
  const std::uint32_t* const words = from + blockIdx.x * kWarpInputs;
  const std::uint32_t* const own = words + kMatrixWords + lane * kLaneInputs;
  to += (blockIdx.x * 32 + lane) * kLaneOutputs;
  for (unsigned i = lane; i < kMatrixWords; i += 32) rows[i] = words[i];
  __syncthreads();
  std::uint32_t matrices[4];
  load_matrices(matrices, rows + own[0] * 4);
  for (const std::uint32_t word : matrices) *to++ = word;
  load_matrices<true>(matrices, rows + own[0] * 4);
  for (const std::uint32_t word : matrices) *to++ = word;
  for (unsigned step = 1; step < 32; step *= 2) *to++ = __shfl_down_sync(0xffffffffu, own[1], step);
  for (unsigned step = 1; step < 32; step *= 2) *to++ = exchanged(own[1], step);
  to = write_product<BFloat16>(own + 2, own + 14, to);
  write_product<Float16>(own + 8, own + 14, to);
}

}  // namespace trainyard::probe
