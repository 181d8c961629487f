// The parts of a batch that mixing changes.
#pragma once

#include <cstdint>
#include <span>

#include "data/augment/mixing.h"

namespace trainyard {

/// A sample of kMixField: the other class in a target, and its share of it, at most one half, as
/// far as it is rounded; the label has the rest.
struct MixedTarget {
  float label = -1;  // a class, exact up to 2^24; -1: none
  float share = 0;
};

/// The parts of n samples of one label each, of which those at 2i and 2i + 1 are a pair.
struct MixedBatch {
  std::span<float> images = {};         // [n, c, h, w], made by the host; or empty
  std::span<PairMix> mixes = {};        // [n / 2], for a device that makes them; or empty
  std::span<std::int32_t> labels = {};  // [n]
  std::span<float> weights = {};        // [n], at least 0; empty: 1 each
  std::span<MixedTarget> targets = {};  // [n]
};

/// Mixes pair `pair` of the batch, of images of `shape` ([c, h, w]). The weights of a sample with a
/// share s, of its own label and the other's, are s w_own and (1 - s) w_other: their sum becomes
/// the sample's weight, the label of the larger one its label (of equal ones its own), and the
/// smaller part of the sum the share of the other.
void mix_pair(const PairMix& mix, const Shape& shape, std::int64_t pair, const MixedBatch& batch);

}  // namespace trainyard
