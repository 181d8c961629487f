// The maps of a convolution in bf16 as a weight gradient's kernels read them: pairs of images, the
// last one of an odd batch with zeros. Both images of a pair have the same columns at the edges,
// and a pair serves all taps, which pairs of columns would not.
//
// Gains: bf16 weight gradients of MiniGoogLeNet took 274 ms instead of 362 with
// pairs of images, prefetching and two vectors of filters a tile together, of ResNet-20 46 instead
// of 60 (one thread, machine E; docs/results).
#pragma once

#include "compute/conv/conv_step.h"
#include "compute/conv/weight_gradient/paired_rows.h"
#include "compute/conv/weight_gradient/weight_tiling.h"

namespace trainyard::direct {

class PairedMaps {
 public:
  /// PairedRows must support both maps.
  explicit PairedMaps(const ConvStep& conv);

  /// Of the convolution on pairs.
  [[nodiscard]] const WeightTiling& plan() const { return plan_; }
  /// Of the pairs that a run of a unit reads, which a thread needs.
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
