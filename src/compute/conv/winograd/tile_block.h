// The kernels of kernels.h for vectors V and transforms F. Included only by the files that are
// compiled for one kind of vector each. Its functions are theirs alone, and it includes nothing
// that has inline functions: compiled for that processor, these might be linked into the rest of
// the program.
#pragma once

#include "compute/conv/winograd/kernels.h"
#include "compute/conv/winograd/transforms.h"
#include "compute/matmul/multiply_rows.h"

namespace trainyard::winograd {
namespace {

/// Products that are summed one after the other: with chains of 16, errors hardly depend on the
/// number of channels.
constexpr std::int64_t kChain = 16;

/// Where a tile is.
struct TilePlace {
  std::int64_t image, y, x;  // position of its first output
};

template <class F>
TilePlace place_of(const Problem& problem, std::int64_t tile) {
  const std::int64_t column = tile % problem.tile_columns;
  const std::int64_t row = tile / problem.tile_columns;
  return {.image = row / problem.tile_rows,
          .y = row % problem.tile_rows * F::kOutputRows,
          .x = column * F::kOutputColumns};
}

/// The rows or columns [begin, end) of a tile that are in a map of `extent`, if it begins at
/// `first`.
struct Span {
  std::int64_t begin, end;
};
template <int kCount>
Span inside(std::int64_t first, std::int64_t extent) {
  const std::int64_t left = extent - first;
  return {.begin = first < 0 ? -first : 0, .end = left < kCount ? left : kCount};
}

/// The inputs of a tile in one block of channels: rows of vectors, of which those outside the map
/// are zeros, and the columns that are in the map.
template <class V, class F>
struct Patch {
  const float* rows[F::kInputRows];
  Span columns;
  std::int64_t ahead;  // from a row to the one at its place in the tiles below

  Patch(const BlockedMap& map, const float* image, std::int64_t top, std::int64_t left)
      : columns(inside<F::kInputColumns>(left, map.width)), ahead(F::kOutputRows * map.row) {
    alignas(64) static constexpr float kZeros[F::kInputColumns * V::kLanes] = {};
    for (std::int64_t y = 0; y < F::kInputRows; ++y) {
      const bool in_map = top + y >= 0 && top + y < map.height;
      rows[y] = in_map ? image + (top + y) * map.row + left * V::kLanes : kZeros;
      steps_[y] = in_map ? map.block : 0;
    }
  }
  void next_block() {
    for (int y = 0; y < F::kInputRows; ++y) rows[y] += steps_[y];
  }

 private:
  std::int64_t steps_[F::kInputRows];
};

/// Transforms a patch into one vector for each point. Prefetches what the tile below it reads
/// first.
template <class V, class F>
void transform_patch(const Patch<V, F>& patch, float* to, std::int64_t point) {
  constexpr int kRows = F::kInputRows, kColumns = F::kInputColumns;
  V half[kRows][kColumns];
#pragma GCC unroll 6
  for (int x = 0; x < kColumns; ++x) {
    V column[kRows];
    if (x < patch.columns.begin || x >= patch.columns.end) {
#pragma GCC unroll 6
      for (int y = 0; y < kRows; ++y) half[y][x] = V::all(0);
      continue;
    }
#pragma GCC unroll 6
    for (int y = 0; y < kRows; ++y) column[y] = V::load(patch.rows[y] + x * V::kLanes);
    if (x >= kColumns - F::kOutputColumns) {
#pragma GCC unroll 6
      for (int y = kRows - F::kOutputRows; y < kRows; ++y) {
        __builtin_prefetch(patch.rows[y] + x * V::kLanes + patch.ahead);
      }
    }
    F::Rows::input(column);
#pragma GCC unroll 6
    for (int y = 0; y < kRows; ++y) half[y][x] = column[y];
  }
#pragma GCC unroll 6
  for (int y = 0; y < kRows; ++y) {
    F::Columns::input(half[y]);
#pragma GCC unroll 6
    for (int x = 0; x < kColumns; ++x) half[y][x].store(to + (y * kColumns + x) * point);
  }
}

template <class V, class F>
void transform_inputs(const Problem& problem, const float* input, std::int64_t first,
                      std::int64_t count, float* transformed) {
  const BlockedMap& map = problem.input;
  const std::int64_t point = point_floats(map.blocks, count, V::kLanes);
  for (std::int64_t tile = 0; tile < count; ++tile) {
    const TilePlace place = place_of<F>(problem, first + tile);
    Patch<V, F> patch(map, input + place.image * map.image, place.y - problem.top,
                      place.x - problem.left);
    float* to = transformed + tile * V::kLanes;
    for (std::int64_t block = 0; block < map.blocks; ++block) {
      transform_patch(patch, to, point);
      patch.next_block();
      to += count * V::kLanes;
    }
  }
}

/// Transforms one vector for each point into a tile of outputs.
template <class V, class F>
void transform_sums(const float* sums, std::int64_t point, V bias, bool cut,
                    V (&out)[F::kOutputRows][F::kOutputColumns]) {
  constexpr int kRows = F::kInputRows, kColumns = F::kInputColumns;
  V half[F::kOutputRows][kColumns];
#pragma GCC unroll 6
  for (int x = 0; x < kColumns; ++x) {
    V column[kRows], result[F::kOutputRows];
#pragma GCC unroll 6
    for (int y = 0; y < kRows; ++y) column[y] = V::load(sums + (y * kColumns + x) * point);
    F::Rows::output(column, result);
#pragma GCC unroll 6
    for (int y = 0; y < F::kOutputRows; ++y) half[y][x] = result[y];
  }
#pragma GCC unroll 6
  for (int y = 0; y < F::kOutputRows; ++y) {
    F::Columns::output(half[y], out[y]);
    for (V& value : out[y]) {
      value = value + bias;
      if (cut) value = relu(value);
    }
  }
}

/// Writes the tiles of the output blocks [block, block + N).
template <class V, class F, int N>
void transform_outputs(const Problem& problem, const Memory& memory, std::int64_t block,
                       std::int64_t first, std::int64_t count, const float* sums) {
  constexpr int kLanes = V::kLanes;
  const BlockedMap& map = problem.output;
  const std::int64_t point = point_floats(N, count, kLanes);
  for (std::int64_t tile = 0; tile < count; ++tile) {
    const TilePlace place = place_of<F>(problem, first + tile);
    const std::int64_t rows = inside<F::kOutputRows>(place.y, map.height).end;
    const std::int64_t columns = inside<F::kOutputColumns>(place.x, map.width).end;
    float* to = memory.output + place.image * map.image + block * map.block + place.y * map.row +
                place.x * kLanes;
    for (int n = 0; n < N; ++n) {
      const V bias =
          memory.bias == nullptr ? V::all(0) : V::load(memory.bias + (block + n) * kLanes);
      V out[F::kOutputRows][F::kOutputColumns];
      transform_sums<V, F>(sums + (n * count + tile) * kLanes, point, bias, memory.relu, out);
#pragma GCC unroll 6
      for (int y = 0; y < F::kOutputRows; ++y) {
        if (y >= rows) break;
#pragma GCC unroll 6
        for (int x = 0; x < F::kOutputColumns; ++x) {
          if (x >= columns) break;
          float* const at = to + y * map.row + x * kLanes;
          (memory.adds ? V::load(at) + out[y][x] : out[y][x]).store(at);
        }
      }
      to += map.block;
    }
  }
}

template <class V, class F>
struct TileBlock {
  static constexpr int kPanel = 2;
  static constexpr int kPoints = F::kInputRows * F::kInputColumns;

  /// The output blocks [block, block + N) of the tiles.
  template <int N>
  static void run_panel(const Problem& problem, const Memory& memory, std::int64_t block,
                        std::int64_t first, std::int64_t count, const float* transformed,
                        float* sums) {
    const std::int64_t blocks = problem.input.blocks;
    const std::int64_t read = point_floats(blocks, count, V::kLanes);
    const std::int64_t written = point_floats(N, count, V::kLanes);
    const std::int64_t weight = blocks * V::kLanes * V::kLanes;  // a point's and an output block's
    const float* weights = memory.weights + block * kPoints * weight;
    for (int point = 0; point < kPoints; ++point) {
      product::multiply_rows<V, N, kChain>(transformed + point * read, blocks, count,
                                           weights + point * N * weight, sums + point * written);
    }
    transform_outputs<V, F, N>(problem, memory, block, first, count, sums);
  }

  static void run(const Problem& problem, const Memory& memory, std::int64_t first,
                  std::int64_t count, float* scratch) {
    float* const sums = scratch + kPoints * point_floats(problem.input.blocks, count, V::kLanes);
    transform_inputs<V, F>(problem, memory.input, first, count, scratch);
    std::int64_t block = 0;
    for (; block + kPanel <= problem.output.blocks; block += kPanel) {
      run_panel<kPanel>(problem, memory, block, first, count, scratch, sums);
    }
    if (block < problem.output.blocks) {
      run_panel<1>(problem, memory, block, first, count, scratch, sums);
    }
  }

  static void transform_weights(const Problem& problem, const PlainWeights& weights,
                                std::int64_t output_block, std::int64_t c, float* transformed) {
    constexpr int kLanes = V::kLanes;
    V taps[3][3];
    for (int tap = 0; tap < 9; ++tap) {
      float values[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::int64_t k = output_block * kLanes + lane;
        const bool padding = k >= weights.outputs || c >= weights.inputs;
        values[lane] = padding ? 0
                               : weights.data[k * weights.output_stride + c * weights.input_stride +
                                              (weights.reversed ? 8 - tap : tap)];
      }
      taps[tap % 3][tap / 3] = V::load(values);  // columns first
    }
    V half[F::kInputRows][3];
#pragma GCC unroll 6
    for (int x = 0; x < 3; ++x) {
      V column[F::kInputRows];
      F::Rows::taps(taps[x], column);
#pragma GCC unroll 6
      for (int y = 0; y < F::kInputRows; ++y) half[y][x] = column[y];
    }
    const std::int64_t panel = output_block / kPanel * kPanel;  // its first block
    const std::int64_t left = problem.output.blocks - panel;
    const std::int64_t width = left < kPanel ? left : kPanel;
    const std::int64_t weight = problem.input.blocks * kLanes * kLanes;
    float* to =
        transformed + panel * kPoints * weight + (c * width + output_block - panel) * kLanes;
    for (auto& line : half) {
      V row[F::kInputColumns];
      F::Columns::taps(line, row);
      for (const V& vector : row) {
        vector.store(to);
        to += width * weight;
      }
    }
  }
};

template <class V, class F>
constexpr Kernels kernels_of() {
  return {.lanes = V::kLanes,
          .rows = F::kOutputRows,
          .columns = F::kOutputColumns,
          .panel = TileBlock<V, F>::kPanel,
          .transform_weights = &TileBlock<V, F>::transform_weights,
          .run = &TileBlock<V, F>::run};
}

template <class V>
const Kernels& kernels_of_tile(Tile tile) {
  static constexpr Kernels kTwo = kernels_of<V, TileForm<TwoOutputs, TwoOutputs>>();
  static constexpr Kernels kFourByTwo = kernels_of<V, TileForm<FourOutputs, TwoOutputs>>();
  static constexpr Kernels kFour = kernels_of<V, TileForm<FourOutputs, FourOutputs>>();
  switch (tile) {
    case Tile::two:
      return kTwo;
    case Tile::four_by_two:
      return kFourByTwo;
    case Tile::four:
      return kFour;
  }
  __builtin_unreachable();
}

}  // namespace
}  // namespace trainyard::winograd
