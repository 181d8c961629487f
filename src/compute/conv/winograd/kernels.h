// The kernels of a Winograd convolution of 3x3 at stride 1 over maps in blocks of channels, as
// plain data and functions for each processor and size of tile.
#pragma once

#include <cstdint>

namespace trainyard::winograd {

/// The outputs of a tile, rows by columns: 2x2 from 4x4 inputs, 4x2 from 6x4, or 4x4 from 6x6.
enum class Tile { two, four_by_two, four };

/// A map [n, c, h, w] in blocks of channels (nChw8c, nChw16c); strides in floats.
struct BlockedMap {
  std::int64_t image = 0, block = 0, row = 0;
  std::int64_t height = 0, width = 0;
  std::int64_t blocks = 0;  // blocks of channels, the last one padded with zeros
};

/// A convolution: every pass is one of its own input, weights and output. Tiles are numbered by
/// image, row, column.
struct Problem {
  BlockedMap input, output;
  std::int64_t images = 0;
  std::int64_t top = 0, left = 0;  // rows and columns of zeros before the input
  std::int64_t tile_rows = 0, tile_columns = 0;
  [[nodiscard]] std::int64_t tiles() const { return images * tile_rows * tile_columns; }
};

/// Weights as they are stored: of output channel k and input channel c, 9 taps at
/// data + k * output_stride + c * input_stride.
struct PlainWeights {
  const float* data = nullptr;
  std::int64_t outputs = 0, inputs = 0;
  std::int64_t output_stride = 0, input_stride = 0;
  bool reversed = false;  // the taps, last first: a gradient of the input
};

/// What a block of tiles reads and writes besides the problem.
struct Memory {
  const float* input = nullptr;
  const float* weights = nullptr;  // transformed
  const float* bias = nullptr;     // [output blocks, lanes]; null: none
  float* output = nullptr;
  bool relu = false;  // outputs below 0 become 0
  bool adds = false;  // outputs are added to what is there
};

struct Kernels {
  int lanes = 0;    // channels of a block
  int rows = 0;     // rows of a tile's outputs; its inputs have two more
  int columns = 0;  // likewise
  int panel = 0;    // blocks of output channels that are multiplied at a time
  /// Transforms the weights of all output channels of one block and the input channel c (which may
  /// be padding) into their place in `transformed`, which holds weight_floats().
  void (*transform_weights)(const Problem& problem, const PlainWeights& weights,
                            std::int64_t output_block, std::int64_t c, float* transformed);
  /// The outputs of `count` tiles from `first` on. `scratch` holds scratch_floats(count), aligned
  /// to 64 bytes. The bits of an output depend neither on `first` nor on `count`.
  void (*run)(const Problem& problem, const Memory& memory, std::int64_t first, std::int64_t count,
              float* scratch);

  /// Products of a tile: one for each of its inputs.
  [[nodiscard]] std::int64_t points() const;
  [[nodiscard]] std::int64_t weight_floats(const Problem& problem) const;
  [[nodiscard]] std::int64_t scratch_floats(const Problem& problem, std::int64_t count) const;
};

/// Floats between the transformed tiles of two points: all of a point's, and a cache line, so that
/// the points do not share one set of the cache. Static, as everything that the kernels' files
/// call: code that is compiled for one processor is not linked into the rest of the program.
[[nodiscard]] static constexpr std::int64_t point_floats(std::int64_t blocks, std::int64_t tiles,
                                                         std::int64_t lanes) {
  return (blocks * tiles + 1) * lanes;
}

/// For nChw8c. Requires AVX2 and FMA.
[[nodiscard]] const Kernels& kernels_avx2(Tile tile);
/// For nChw16c. Requires AVX-512 F, BW, CD, DQ, VL.
[[nodiscard]] const Kernels& kernels_avx512(Tile tile);

}  // namespace trainyard::winograd
