// The maps of a convolution in bf16 as a weight gradient's kernels read them: pairs of images, the
// last one of an odd batch with zeros. Both images of a pair have the same columns at the edges,
// and a pair serves all taps, which pairs of columns would not.
//
// Gains: bf16 weight gradients of MiniGoogLeNet took 274 ms instead of 362 with
// pairs of images, prefetching and two vectors of filters a tile together, of ResNet-20 46 instead
// of 60 (one thread, machine E; docs/results/log/cpu.md).
#pragma once

#include <cstdint>

#include "compute/conv/conv_step.h"
#include "compute/conv/weight_gradient/weight_tile.h"
#include "compute/conv/weight_gradient/weight_tiling.h"
#include "tensor/layout.h"

namespace trainyard::direct {

/// A copy of the rows that a run reads, which stays in the second-level cache: the places of pairs
/// in memory, a float's place each: [block of channels][row][column][channel of the block]. A pair
/// is of images 2 i and 2 i + 1, the second 0 where there is none. Rows are counted over all pairs
/// of images in succession, from the first one that is there.
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

class PairedMaps {
 public:
  /// PairedRows must support both maps.
  explicit PairedMaps(const ConvStep& conv);

  /// Tiling of the convolution on pairs.
  [[nodiscard]] const WeightTiling& plan() const { return plan_; }
  /// Bytes that a thread needs: the pairs that a run of a unit reads.
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(x_.floats() + dy_.floats()) * sizeof(float);
  }
  /// Writes what a run of a unit reads to `memory`, in which x already is with `same_x`. Returns
  /// both maps in the layouts of plan().
  ConvMaps<const float*> pair(const ConvMaps<const void*>& maps, const Span& run, std::int64_t unit,
                              bool same_x, float* memory) const;

 private:
  void reserve();

  ConvStep conv_;
  PairedRows x_, dy_;
  WeightTiling plan_;
};

}  // namespace trainyard::direct
