// Rows of a map in bf16 for the kernels of weight gradients, which multiply pairs of images: a copy
// of those that a run reads, which stays in the second-level cache. Its gain is that of
// paired_maps.h; it was not measured alone.
#pragma once

#include <cstdint>

#include "compute/conv/weight_gradient/weight_tile.h"
#include "tensor/layout.h"

namespace trainyard::direct {

/// The places of pairs in memory, a float's place each: [block of channels][row][column][channel of
/// the block]. A pair is of images 2 i and 2 i + 1, the second 0 where there is none. Rows are
/// counted over all pairs of images in succession, from the first one that is there.
class PairedRows {
 public:
  explicit PairedRows(const Layout& map);
  /// Makes room for `rows` rows of `channels` channels, counted from the first of a block.
  void reserve(std::int64_t channels, std::int64_t rows);

  /// True if a map is plain or in blocks of 16 channels, and the rows of an image have no gaps.
  [[nodiscard]] static bool supports(const Layout& map);

  [[nodiscard]] std::int64_t floats() const { return floats_; }
  /// The layout for kernels, whose images are pairs: channels and rows begin at the map's first,
  /// which need not be there.
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Writes these rows and channels of `map`, channels.first of whole blocks, to `memory`.
  void write(const std::uint16_t* map, const Span& rows, const Span& channels, float* memory) const;
  /// Where, in layout(), the map's first row and channel would be, once these are in `memory`.
  [[nodiscard]] const float* origin(const Span& rows, const Span& channels,
                                    const float* memory) const {
    return memory - rows.first * row_floats_ - channels.first / map_.block * layout_.stride[1];
  }

 private:
  void pair_block(const std::uint16_t* map, const Span& rows, std::int64_t channel,
                  float* to) const;

  Layout map_, layout_;
  std::int64_t row_floats_;
  std::int64_t floats_ = 0;
};

}  // namespace trainyard::direct
