// Rows of a map in bf16 for the kernels of weight gradients, which multiply pairs of pixels: a copy
// of those that a run reads, which stays in the second-level cache.
#pragma once

#include <cstdint>

#include "exec/direct/weight_tile.h"
#include "tensor/layout.h"

namespace trainyard::direct {

/// The pairs of a row of pixels: pair i is of columns i * step - before and, `distance` further,
/// another. Columns outside of the map are 0.
struct PairedColumns {
  std::int64_t pairs = 1, step = 1, distance = 1, before = 0;

  [[nodiscard]] std::int64_t column(std::int64_t pair) const { return pair * step - before; }
  /// The pairs of which both columns are in a map of this width.
  [[nodiscard]] Span inside(std::int64_t width) const;
};

/// The places of pairs in memory, a float's place each: [block of channels][row][pair][channel of
/// the block], rows counted over all images in succession, from the first one that is there.
class PairedRows {
 public:
  PairedRows(const Layout& map, const PairedColumns& columns);
  /// Makes room for `rows` rows of `channels` channels, counted from the first of a block.
  void reserve(std::int64_t channels, std::int64_t rows);

  /// True if a map is plain or in blocks of 16 channels, and the columns of a row have no gaps.
  [[nodiscard]] static bool supports(const Layout& map);

  [[nodiscard]] std::int64_t floats() const { return floats_; }
  /// The layout for kernels, whose columns are pairs: channels and rows begin at the map's first,
  /// which need not be there.
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Writes these rows and channels of `map`, channels.first of whole blocks, to `memory`. Returns
  /// where, in layout(), the map's first row and channel would be.
  const float* pair(const std::uint16_t* map, const Span& rows, const Span& channels,
                    float* memory) const;

 private:
  void pair_row(const std::uint16_t* row, float* to) const;
  void pair_at_edge(const std::uint16_t* row, std::int64_t pair, float* to) const;

  Layout map_, layout_;
  PairedColumns columns_;
  Span inside_;
  std::int64_t row_floats_;
  std::int64_t floats_ = 0;
};

}  // namespace trainyard::direct
