// How columns() of every launcher splits its sums, by the shape alone: rows into strips, each added
// up row by row by one thread; strips into chunks, whose threads are added pairwise by their block;
// chunks once more so by the block that arrives last. Pairwise means neighbours, then neighbouring
// pairs and so on: a warp has the first levels in its registers, and a processor adds up as it
// goes.
//
// A functor f of columns() has
//   Sum                                a value with += that commutes, zero when value-initialised
//   add(begin, end, column, count, s)  adds the sums of rows [begin, end) of `count` neighbouring
//                                      columns to s[0] to s[count - 1]; or
//   Sum operator()(row, column)        one term, which are then added in Sum
//   finish(column, Sum)                receives the sum over all rows
//   kColumns, kStripRows               columns that a thread adds side by side (`columns` is a
//                                      multiple of it), and most rows of a strip; where they are
//                                      not stated 1 and 128
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// Threads of a block of columns() on a GPU.
inline constexpr std::int64_t kColumnThreads = 256;
/// Columns of a block at most, and of a thread: the threads of a warp that are below each other
/// then share out the columns of each (cuda_launch.cuh).
inline constexpr std::int64_t kColumnsOfBlock = 32, kColumnsOfThread = 8;
/// Partial sums of a column at most.
inline constexpr std::int64_t kColumnPartials = 512;
/// Blocks beside each other, each of which counts those below it: `finished` of columns() has as
/// many numbers. With more blocks none is below another.
inline constexpr std::int64_t kColumnGroups = 1024;

template <class F>
TY_HD constexpr std::int64_t columns_together() {
  if constexpr (requires { F::kColumns; }) {
    return F::kColumns;
  } else {
    return 1;
  }
}
template <class F>
TY_HD constexpr std::int64_t most_strip_rows() {
  if constexpr (requires { F::kStripRows; }) {
    return F::kStripRows;
  } else {
    return 128;
  }
}

/// Rows of a chunk at least.
inline constexpr std::int64_t kChunkRows = 128;

/// Chunks of that many rows, at most. Partial results that columns() needs, in elements of the
/// functor's Sum, at most.
TY_HD constexpr std::int64_t column_chunks(std::int64_t rows) {
  const std::int64_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  return chunks < 1 ? 1 : chunks < kColumnPartials ? chunks : kColumnPartials;
}
TY_HD constexpr std::int64_t column_partials(std::int64_t rows, std::int64_t columns) {
  return column_chunks(rows) * columns;
}

/// The split of [rows, columns]. A block has `wide` threads beside each other, each for `together`
/// columns, and `tall` below each other, each for a strip. Where that would make too many chunks, a
/// block does so `turns` times, one part of its chunk after the other, and adds the parts in order.
struct ColumnGrid {
  std::int64_t rows, columns, together;
  std::int64_t wide, tall, turns;
  std::int64_t strip;           // rows
  std::int64_t groups, chunks;  // blocks beside and below each other

  /// The first row of the strip of thread `lane` in a turn of a chunk; may be behind the last row.
  [[nodiscard]] TY_HD std::int64_t begin(std::int64_t chunk, std::int64_t lane,
                                         std::int64_t turn) const {
    return ((chunk * turns + turn) * tall + lane) * strip;
  }
  [[nodiscard]] TY_HD std::int64_t end(std::int64_t begin) const {
    return begin + strip < rows ? begin + strip : rows;
  }
  /// Lanes of a turn of a chunk that have rows; at least one is counted.
  [[nodiscard]] TY_HD std::int64_t filled(std::int64_t chunk, std::int64_t turn) const {
    const std::int64_t strips = (rows - begin(chunk, 0, turn) + strip - 1) / strip;
    return strips < 1 ? 1 : strips < tall ? strips : tall;
  }
  /// Columns of a group.
  [[nodiscard]] TY_HD std::int64_t beside() const { return wide * together; }
  /// Lanes in which the last block of a group adds the partial results of a column: lane l those of
  /// chunks l, l + lanes ... in order, then lanes are added pairwise too.
  [[nodiscard]] TY_HD std::int64_t lanes() const {
    std::int64_t count = 1;
    while (count * 2 * beside() <= kColumnThreads) count *= 2;
    return count;
  }
};

/// The split for F. Strips are as long as leaves threads for a whole GPU: a block for each of the
/// 132 processors of an H100, whose warps hide each other's latencies. They have 8 rows at least,
/// which a thread has in flight at once: with shorter ones, what follows a strip takes longer than
/// the strip, on a processor above all.
template <class F>
TY_HD constexpr ColumnGrid column_grid(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kEnoughThreads = 132 * kColumnThreads, kShortest = 8;
  constexpr std::int64_t kTogether = columns_together<F>(), kMost = most_strip_rows<F>();
  constexpr std::int64_t kWidest = kTogether > 1 ? 4 : 16;  // up to 64 bytes beside each other
  static_assert(kWidest * kTogether <= kColumnsOfBlock && kTogether <= kColumnsOfThread);
  const std::int64_t packs = (columns + kTogether - 1) / kTogether;
  std::int64_t wide = 1;
  while (wide < kWidest && wide < packs) wide *= 2;
  const std::int64_t tall = kColumnThreads / wide, groups = (packs + wide - 1) / wide;
  const std::int64_t least = kChunkRows / tall > kShortest ? kChunkRows / tall : kShortest;
  const std::int64_t enough = (rows * packs + kEnoughThreads - 1) / kEnoughThreads;
  const std::int64_t strip = enough < least ? least : enough < kMost ? enough : kMost;
  const std::int64_t strips = (rows + strip - 1) / strip;
  const std::int64_t chunks = strips <= tall ? 1 : (strips + tall - 1) / tall;
  const std::int64_t most = groups > kColumnGroups ? 1 : kColumnPartials;
  const std::int64_t turns = (chunks + most - 1) / most;
  return {rows, columns, kTogether, wide, tall, turns, strip, groups, (chunks + turns - 1) / turns};
}

/// Adds a strip to the sums of `count` columns.
template <class F>
TY_HD void add_strip(const F& f, std::int64_t begin, std::int64_t end, std::int64_t column,
                     std::int64_t count, typename F::Sum* sums) {
  if constexpr (requires { f.add(begin, end, column, count, sums); }) {
    f.add(begin, end, column, count, sums);
  } else {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = 0; k < count; ++k) sums[k] += f(row, column + k);
    }
  }
}

}  // namespace trainyard
