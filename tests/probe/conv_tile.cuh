// The inner loops of 3x3 convolutions on tensor cores, of 16, 32 and 64 channels: a block of 8
// warps has a map of 512 / channels pixels squared, with a border, in shared memory. A warp makes
// 144 products of 16x8x16 in each. Pixels and filters lie there so that eight rows of a matrix are
// in different banks: 16 bytes, 8 channels, are moved within a pixel by bits of its number.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <nv/target>

#include "base/host_device.h"
#include "launcher/load_matrix.cuh"
#include "launcher/mma.cuh"
#include "launcher/pack.h"

namespace trainyard::probe {

inline constexpr unsigned kTileThreads = 256;

/// 16 bytes.
struct alignas(16) Unit {
  std::uint32_t words[4];
};

template <int kChannels>
struct TileShape {
  static constexpr unsigned kSide = 512 / kChannels, kWide = kSide + 2;
  static constexpr unsigned kUnits = kChannels / 8;  // units of a pixel, or of a tap of a filter
  static constexpr unsigned kMapUnits = kWide * kWide * kUnits;
  static constexpr unsigned kWeightUnits = 9 * kChannels * kUnits;
  static constexpr unsigned kBytes = (kMapUnits + kWeightUnits) * sizeof(Unit);
  static constexpr unsigned kHalves =
      kChannels == 64 ? 2 : 1;  // halves of the channels that are read
  static constexpr unsigned kRows = kChannels == 16 ? 8 : 2;     // strips of 16 pixels of a warp
  static constexpr unsigned kColumns = kChannels == 16 ? 2 : 4;  // columns of 8 filters

  /// Where unit `unit` of a pixel, or of a row of filters, is.
  static TY_HD unsigned place(unsigned row, unsigned unit) {
    const unsigned moved = kChannels == 16   ? (row >> 2) & 1
                           : kChannels == 32 ? (row >> 1) & 3
                                             : row & 7;
    return row * kUnits + (unit ^ moved);
  }
};

/// What a warp multiplies, and its lane.
template <int kChannels>
struct TileWarp {
  using Shape = TileShape<kChannels>;
  const Unit* map;
  const Unit* weights;
  unsigned warp, lane;

  /// The pixel in the map, without its border, of number `i` of strip `strip`.
  [[nodiscard]] TY_HD unsigned pixel(unsigned strip, unsigned i) const {
    if (kChannels == 16) return (warp * 4 + strip / 2) * 32 + strip % 2 * 16 + i;
    if (kChannels == 32) return (warp * 2 + strip) * 16 + i;
    return (warp % 2 * 4 + strip * 2) * 8 + i;
  }
  /// The first of the eight filters of a column of products.
  [[nodiscard]] TY_HD unsigned filter(unsigned column) const {
    return (kChannels == 64 ? warp / 2 % 2 * 32 : 0) + column * 8;
  }
  [[nodiscard]] TY_HD unsigned half() const { return kChannels == 64 ? warp / 4 : 0; }
  /// The first unit of channels of a step of 16.
  [[nodiscard]] TY_HD unsigned unit(unsigned step) const { return half() * 4 + step * 2; }

  /// 16 pixels from `first` of the map with its border, 16 channels from `unit`. With 64 channels
  /// they are of two lines.
  __device__ void load_pixels(std::uint32_t (&a)[4], unsigned first, unsigned unit) const {
    const unsigned i = lane % 16;
    const unsigned pixel = first + (kChannels == 64 ? i / 8 * Shape::kWide + i % 8 : i);
    load_matrices(a, map + Shape::place(pixel, unit + lane / 16));
  }
  /// Loads 16 channels of 16 filters from `filter` under a tap: both factors b of two products.
  __device__ void load_filters(std::uint32_t (&b)[4], unsigned tap, unsigned filter,
                               unsigned unit) const {
    const unsigned row = tap * kChannels + filter + lane / 16 * 8 + lane % 8;
    load_matrices(b, weights + Shape::place(row, unit + lane / 8 % 2));
  }
};

template <int kChannels>
using TileSums = float[TileShape<kChannels>::kRows][TileShape<kChannels>::kColumns][4];

/// Two columns of products with both pairs of a load of filters.
template <class T>
__device__ void multiply_two(float (&left)[4], float (&right)[4], const std::uint32_t (&a)[4],
                             const std::uint32_t (&b)[4]) {
  const std::uint32_t first[2] = {b[0], b[1]}, second[2] = {b[2], b[3]};
  multiply_add_16x8x16<T>(left, a, first);
  multiply_add_16x8x16<T>(right, a, second);
}

/// 16 channels: all weights are in registers, and a load of pixels serves three lines. 36 loads.
template <class T>
__device__ void multiply_tile(const TileWarp<16>& tile, const std::uint32_t (&weights)[9][4],
                              TileSums<16>& sums) {
#pragma unroll
  for (unsigned strip = 0; strip < 2; ++strip) {
#pragma unroll
    for (unsigned line = 0; line < 6; ++line) {
#pragma unroll
      for (unsigned right = 0; right < 3; ++right) {
        std::uint32_t a[4];
        tile.load_pixels(a, (tile.warp * 4 + line) * 34 + strip * 16 + right, 0);
#pragma unroll
        for (unsigned down = 0; down < 3; ++down) {
          if (line < down || line - down >= 4) continue;
          float(&row)[2][4] = sums[(line - down) * 2 + strip];
          multiply_two<T>(row[0], row[1], a, weights[down * 3 + right]);
        }
      }
    }
  }
}

/// 32 channels: 24 loads of pixels, each for up to two lines, and 36 of filters.
template <class T>
__device__ void multiply_tile(const TileWarp<32>& tile, TileSums<32>& sums) {
#pragma unroll
  for (unsigned part = 0; part < 6; ++part) {  // rolled up, half of the addresses are known late
    const unsigned right = part % 3, unit = tile.unit(part / 3);
    std::uint32_t b[3][2][4];
#pragma unroll
    for (unsigned i = 0; i < 6; ++i) {
      tile.load_filters(b[i / 2][i % 2], i / 2 * 3 + right, i % 2 * 16, unit);
    }
#pragma unroll
    for (unsigned line = 0; line < 4; ++line) {
      std::uint32_t a[4];
      tile.load_pixels(a, (tile.warp * 2 + line) * 18 + right, unit);
#pragma unroll
      for (unsigned down = 0; down < 3; ++down) {
        if (line < down || line - down >= 2) continue;
        float(&row)[4][4] = sums[line - down];
        multiply_two<T>(row[0], row[1], a, b[down][0]);
        multiply_two<T>(row[2], row[3], a, b[down][1]);
      }
    }
  }
}

/// 64 channels: 32 pixels, 32 filters and half of the channels of a warp; 36 loads of each.
template <class T>
__device__ void multiply_tile(const TileWarp<64>& tile, TileSums<64>& sums) {
#pragma unroll
  for (unsigned part = 0; part < 18; ++part) {
    const unsigned tap = part / 2, unit = tile.unit(part % 2);
    std::uint32_t b[2][4];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) tile.load_filters(b[i], tap, tile.filter(i * 2), unit);
#pragma unroll
    for (unsigned strip = 0; strip < 2; ++strip) {
      std::uint32_t a[4];
      tile.load_pixels(a, (tile.warp % 2 * 4 + strip * 2 + tap / 3) * 10 + tap % 3, unit);
      multiply_two<T>(sums[strip][0], sums[strip][1], a, b[0]);
      multiply_two<T>(sums[strip][2], sums[strip][3], a, b[1]);
    }
  }
}

/// Writes sums to [halves, pixels, channels], each of them by one lane.
template <int kChannels>
__device__ void store_sums(const TileWarp<kChannels>& tile, const TileSums<kChannels>& sums,
                           float* to) {
  using Shape = TileShape<kChannels>;
  float* const half = to + tile.half() * Shape::kSide * Shape::kSide * kChannels;
#pragma unroll
  for (unsigned strip = 0; strip < Shape::kRows; ++strip) {
#pragma unroll
    for (unsigned column = 0; column < Shape::kColumns; ++column) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned pixel = tile.pixel(strip, tile.lane / 4 + i / 2 * 8);
        const unsigned filter = tile.filter(column) + tile.lane % 4 * 2 + i % 2;
        half[pixel * kChannels + filter] = sums[strip][column][i];
      }
    }
  }
}

/// The same, of which the compiler knows nothing: else it would keep the addresses of all loads
/// from one convolution to the next, which real kernels do not, and have no registers left.
template <int kChannels>
__device__ TileWarp<kChannels> forgotten(TileWarp<kChannels> tile) {
  NV_IF_TARGET(NV_IS_DEVICE, (asm volatile("" : "+r"(tile.lane), "+r"(tile.warp));))
  return tile;
}

/// `repeats` convolutions, added up, of the map and the weights in `from`, which it brings to
/// `shared`, of Shape::kBytes.
template <class T, int kChannels>
__device__ void run_tile(Unit* shared, const Unit* map, const Unit* weights, int repeats,
                         float* to) {
  using Shape = TileShape<kChannels>;
  Unit* const filters = shared + Shape::kMapUnits;
  for (unsigned i = threadIdx.x; i < Shape::kMapUnits; i += kTileThreads) {
    shared[Shape::place(i / Shape::kUnits, i % Shape::kUnits)] = map[i];
  }
  for (unsigned i = threadIdx.x; i < Shape::kWeightUnits; i += kTileThreads) {
    filters[Shape::place(i / Shape::kUnits, i % Shape::kUnits)] = weights[i];
  }
  __syncthreads();
  const TileWarp<kChannels> tile{shared, filters, threadIdx.x / 32, threadIdx.x % 32};
  TileSums<kChannels> sums = {};
  if constexpr (kChannels == 16) {
    std::uint32_t kept[9][4];
#pragma unroll
    for (unsigned tap = 0; tap < 9; ++tap) tile.load_filters(kept[tap], tap, 0, 0);
    for (int i = 0; i < repeats; ++i) multiply_tile<T>(forgotten(tile), kept, sums);
  } else {
    for (int i = 0; i < repeats; ++i) multiply_tile<T>(forgotten(tile), sums);
  }
  store_sums(tile, sums, to);
}

}  // namespace trainyard::probe
