// How columns() of every launcher splits its sums, by the shape alone: rows into strips, each added
// up by one thread; strips in one binary tree (pairwise.h). A chunk is 2^n neighbouring strips, so
// its sum is one of the tree's, and how long chunks are changes no bit.
//
// A functor f of columns() has
//   Sum                                a value with += that commutes, zero when value-initialised
//   add(begin, end, column, count, s)  adds the sums of rows [begin, end) of `count` neighbouring
//                                      columns to s[0] to s[count - 1]; or
//   Sum operator()(row, column)        one term, which are then added in Sum, row by row
//   finish(column, Sum)                receives the sum over all rows
//   kColumns, kStripRows               columns that a thread adds side by side (`columns` is a
//                                      multiple of it), and most rows of a strip; where they are
//                                      not stated 1 and 128
// or, to add groups of 64 rows in a type of its own, strips of which have 8 rows,
//   Part                               as Sum, in place of it in add(), which sets it
//   widened(Part, rows)                the Sum of a group of `rows` rows
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// Threads of a block of columns() on a GPU.
inline constexpr std::int64_t kColumnThreads = 256;
/// Columns of a block at most, and of a thread: the threads of a warp that are below each other
/// then share out the columns of each (cuda_launch.cuh).
inline constexpr std::int64_t kColumnsOfBlock = 32, kColumnsOfThread = 8;
/// Strips of a chunk, and turns of its block, at most: of 2^32 rows.
inline constexpr std::int64_t kChunkStrips = 1 << 20;

template <class F>
TY_HD constexpr std::int64_t columns_together() {
  if constexpr (requires { F::kColumns; }) {
    return F::kColumns;
  } else {
    return 1;
  }
}
template <class F>
TY_HD constexpr bool has_parts() {
  return requires { typename F::Part; };
}
/// What add() of F adds to.
template <class F>
struct Added {
  using Type = typename F::Sum;
};
template <class F>
requires(has_parts<F>()) struct Added<F> {
  using Type = typename F::Part;
};
template <class F>
using AddedOf = typename Added<F>::Type;
template <class F>
TY_HD constexpr std::int64_t most_strip_rows() {
  if constexpr (requires { F::kStripRows; }) {
    return F::kStripRows;
  } else {
    return 128;
  }
}

/// Rows of a group that a functor adds as a Part, and its strips.
inline constexpr std::int64_t kGroupRows = 64, kGroupStrips = 8;

/// The split of [rows, columns]. A block has `wide` threads beside each other, each for `together`
/// columns, and `tall` below each other, each for a strip. It does so `turns` times, one part of
/// its chunk after the other. Both are powers of two.
struct ColumnGrid {
  std::int64_t rows, columns, together;
  std::int64_t wide, tall, turns;
  std::int64_t strip;           // rows
  std::int64_t groups, chunks;  // blocks beside and below each other
  /// The sums of chunks are left to the launch that reads them (SettledCall), which finishes them.
  bool left = false;

  /// The first row of the strip of thread `lane` in a turn of a chunk; may be behind the last row.
  [[nodiscard]] TY_HD std::int64_t begin(std::int64_t chunk, std::int64_t lane,
                                         std::int64_t turn) const {
    return ((chunk * turns + turn) * tall + lane) * strip;
  }
  /// The end of `count` rows from `begin` on, or of all.
  [[nodiscard]] TY_HD std::int64_t end(std::int64_t begin, std::int64_t count) const {
    return begin + count < rows ? begin + count : rows;
  }
  /// Columns of a group.
  [[nodiscard]] TY_HD std::int64_t group_columns() const { return wide * together; }
  /// Lanes in which a block adds the sums of a column's chunks: powers of two of neighbouring ones,
  /// then lanes are added pairwise too.
  [[nodiscard]] TY_HD std::int64_t lanes() const { return kColumnThreads / group_columns(); }
  /// Chunks of a lane; together they may be more than there are.
  [[nodiscard]] TY_HD std::int64_t chunks_of_lane() const {
    std::int64_t count = 1;
    while (count * lanes() < chunks) count *= 2;
    return count;
  }
};

/// Rows of a strip of F, for `packs` packs of columns. Strips are as long as leaves threads for a
/// large GPU, whose warps hide each other's latencies. They have 8 rows at least, which a thread
/// has in flight at once: with shorter ones, what follows a strip takes longer than the strip, on a
/// processor above all.
template <class F>
TY_HD constexpr std::int64_t strip_rows(std::int64_t rows, std::int64_t packs, std::int64_t tall) {
  constexpr std::int64_t kEnoughThreads = 32'768, kShortest = kGroupRows / kGroupStrips;
  if (has_parts<F>()) return kShortest;
  const std::int64_t least = kChunkRows / tall > kShortest ? kChunkRows / tall : kShortest;
  const std::int64_t most = most_strip_rows<F>();
  const std::int64_t enough = (rows * packs + kEnoughThreads - 1) / kEnoughThreads;
  return enough < least ? least : enough < most ? enough : most;
}

/// The split for F into at most `partials` chunks.
template <class F>
TY_HD constexpr ColumnGrid column_grid(std::int64_t rows, std::int64_t columns,
                                       std::int64_t partials = kColumnPartials) {
  constexpr std::int64_t kTogether = columns_together<F>();
  // Up to 64 bytes beside each other; a warp has whole groups of rows.
  constexpr std::int64_t kWidest = kTogether > 1 || has_parts<F>() ? 4 : 16;
  static_assert(kWidest * kTogether <= kColumnsOfBlock && kTogether <= kColumnsOfThread);
  const std::int64_t packs = (columns + kTogether - 1) / kTogether;
  std::int64_t wide = 1;
  while (wide < kWidest && wide < packs) wide *= 2;
  const std::int64_t tall = kColumnThreads / wide, groups = (packs + wide - 1) / wide;
  const std::int64_t strip = strip_rows<F>(rows, packs, tall);
  const std::int64_t strips = (rows + strip - 1) / strip;
  const std::int64_t parts = strips <= tall ? 1 : (strips + tall - 1) / tall;
  const std::int64_t most = groups > kColumnGroups ? 1 : partials;
  std::int64_t turns = 1;
  while ((parts + turns - 1) / turns > most) turns *= 2;
  return {rows, columns, kTogether, wide, tall, turns, strip, groups, (parts + turns - 1) / turns};
}

/// The split for sums that every block of the launch which reads them finishes: into few chunks.
/// Where so few would keep most of a GPU idle for too long, that of column_grid(), whose last
/// blocks finish them.
template <class F>
TY_HD constexpr ColumnGrid left_grid(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kLeftBytes = 32 * 1024, kMostTurns = 4;
  const ColumnGrid all = column_grid<F>(rows, columns);
  const auto bytes = all.group_columns() * static_cast<std::int64_t>(sizeof(typename F::Sum));
  ColumnGrid grid = column_grid<F>(rows, columns, kLeftBytes / bytes);
  grid.left = grid.turns <= kMostTurns;
  return grid.left ? grid : all;
}

/// Adds a strip to the sums of `count` columns.
template <class F>
TY_HD void add_strip(const F& f, std::int64_t begin, std::int64_t end, std::int64_t column,
                     std::int64_t count, AddedOf<F>* sums) {
  if constexpr (requires { f.add(begin, end, column, count, sums); }) {
    f.add(begin, end, column, count, sums);
  } else {
    for (std::int64_t row = begin; row < end; ++row) {
      for (std::int64_t k = 0; k < count; ++k) sums[k] += f(row, column + k);
    }
  }
}

}  // namespace trainyard
