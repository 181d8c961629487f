// The work of one call of a weight gradient kernel, as plain data, and the kernels that there are.
//
// Included where code is compiled for AVX2 or AVX-512, so it has no functions with a body: an
// inline function compiled there could become that of the whole program.
#pragma once

#include <cstdint>

namespace trainyard::direct {

/// The most neighbouring columns of a convolution's kernel that one call computes.
inline constexpr int kMostTaps = 3;

/// Output rows or columns [first, last).
struct Span {
  std::int64_t first = 0, last = 0;
};

/// Memory that is prefetched with the rows of a tile, so many bytes, of whole cache lines, with
/// each.
struct Ahead {
  const char* first = nullptr;
  std::int64_t row_bytes = 0;
};

/// A tile of a weight gradient and the pixels to sum over: for vectors v of filters, channels i and
/// taps t (neighbouring columns of the kernel, in one of its rows)
///
///   sums[v][t][i][lane] += sum over rows r and columns p of x[r, p, t][i] * dy[r, p][v][lane]
///
/// where the sum on the right begins with 0 and takes rows, and in them columns, in ascending
/// order, with one fused multiply-add each. Strides are in floats.
struct WeightTile {
  const float* x = nullptr;   // address of tap 0 at output row 0 and column 0, which may be padding
  const float* dy = nullptr;  // output row 0, column 0; both of the image of row `begin`
  float* sums = nullptr;
  bool first_rows = false;  // first rows of a part: the sum on the right is written, not added
  std::int64_t begin = 0, end = 0;  // rows of all images in succession
  std::int64_t height = 1;          // output rows of an image
  Span rows;                        // output rows of an image whose input row is in the map
  Span inner;                       // output columns whose input column is in the map for all taps
  Span before[kMostTaps];           // other columns where it is for tap t: below those of inner
  Span after[kMostTaps];            // and above
  // From an image to the next, from what an output row or column reads to what the next one does,
  // from tap to tap, from channel to channel:
  std::int64_t x_image = 0, x_row = 0, x_column = 0, x_tap = 0, x_channel = 1;
  std::int64_t dy_image = 0, dy_row = 0, dy_vector = 0;  // a column of dy is a vector
  std::int64_t sums_vector = 0, sums_tap = 0;            // a channel of sums is a vector
  const Ahead* ahead = nullptr;                          // [aheads]
  std::int64_t aheads = 0;
};

/// How x lies in memory. The kernels of the first three are faster, because addresses are
/// constants.
enum class Steps {
  neighbours,  // channels side by side in blocks of a vector, x_column = x_tap = a block
  alternate,   // the same, x_column = 2 x_tap
  planes,      // x_column = x_tap = 1
  blocks,      // channels side by side
  any,
};

/// A kernel, and the extents of the tiles that it computes.
struct TileKernel {
  Steps steps;
  int taps, vectors, channels;
  void (*run)(const WeightTile& tile);
};

/// The kernels for one width of vectors. There are some of 1 vector for 2 and 3 taps of all steps,
/// and for 1 tap of blocks and any; those of planes and any include some of 1 channel. Where
/// kernels differ in channels alone, those of more are first.
struct KernelList {
  int lanes;
  const TileKernel* first;
  int count;
  /// sums[lane] += the sum of dy over the rows of a tile and all columns, `inner`.
  void (*sum_filters)(const WeightTile& tile);
};
extern const KernelList kAvx2Kernels;    // x86-64-v3, vectors of 8
extern const KernelList kAvx512Kernels;  // x86-64-v4, vectors of 16
/// AVX512-BF16, vectors of 16: x and dy are pairs of bf16 in a float's place each, of which the
/// products are added, the second's first.
extern const KernelList kBf16Kernels;

/// Values of bf16, by their bits, to be paired: first[i] and second[i], or 0 without a second, are
/// the lower and the upper half of to[i].
struct ValuePairs {
  const std::uint16_t *first, *second;
  float* to;
  std::int64_t values;
};
/// Needs AVX512-BF16.
void pair_values(const ValuePairs& all);

}  // namespace trainyard::direct
