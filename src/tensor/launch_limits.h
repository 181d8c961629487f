// What memory for launches is planned by, from shapes alone: how sums over the rows of a matrix are
// cut, which fixes their order, how many functors and blocks a launch has at most, and the unit of
// the flat blocks.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// Rows of a chunk at least.
inline constexpr std::int64_t kChunkRows = 128;
/// Partial sums of a column at most.
inline constexpr std::int64_t kColumnPartials = 512;
/// Groups of columns, each of which counts its blocks, at most: of counters that a launch needs.
inline constexpr std::int64_t kColumnGroups = 1024;
/// Functors of a launch at most: they are parameters of its kernel, of which there are 4 KB.
inline constexpr int kMostSiblings = 4;

/// Chunks of that many rows, at most.
TY_HD constexpr std::int64_t column_chunks(std::int64_t rows) {
  const std::int64_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  return chunks < 1 ? 1 : chunks < kColumnPartials ? chunks : kColumnPartials;
}
/// Partial results that columns() needs, in elements of the functor's Sum, at most.
TY_HD constexpr std::int64_t column_partials(std::int64_t rows, std::int64_t columns) {
  return column_chunks(rows) * columns;
}

/// The flat blocks are divided into chunks of this many elements; a chunk belongs to one parameter
/// (parameters start at multiples of it, the rest of the last chunk is zero). 64 floats are a
/// 256-byte line, the alignment of the arenas.
inline constexpr std::int64_t kChunk = 64;

}  // namespace trainyard
