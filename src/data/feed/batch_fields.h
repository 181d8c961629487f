// Where the fields of batches come from, and what mixing pairs of samples makes of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/augment/mixing.h"
#include "data/feed/class_weight_policy.h"
#include "data/feed/time_step_mask.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// A field of the batches: its place among those of the set, or what a feeder makes.
struct BatchField {
  std::size_t index = 0;
  std::size_t bytes = 0;                            // bytes of a sample
  std::optional<TimeStepMask> mask = std::nullopt;  // mask made of existing lengths
  bool mixed = false;                               // kMixField
};

/// The field of this name, of the set or kMaskField or kMixField. Throws Error{config} if there is
/// none, Error{data} for a mask of lengths that are not those of sequences of the set.
[[nodiscard]] BatchField find_field(const Dataset& set, const std::string& name);
[[nodiscard]] std::vector<BatchField> find_fields(const Dataset& set,
                                                  const std::vector<std::string>& names);

/// The field with the samples' own weights, if the rule names one. Throws Error{config} unless it
/// is one f32 a sample.
[[nodiscard]] std::optional<BatchField> find_own_weights(
    const Dataset& set, const std::optional<ClassWeightPolicy>& weights);
/// The mask of the labels, if the rule names one.
[[nodiscard]] std::optional<BatchField> find_mask(const Dataset& set,
                                                  const std::optional<ClassWeightPolicy>& weights);
/// The labels of a sample, each of which has a weight.
[[nodiscard]] std::int64_t labels_of_sample(const Dataset& set);

// The parts of a batch that mixing changes.

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
