// Where the fields of batches come from: masks of sequences, made of their lengths; the weights of
// targets, by class, by sample and of what is ignored; and what mixing pairs of samples makes of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/augment/mixing.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// The weight of a sample's target: that of its class times the sample's own; 0 for an ignored
/// label. A sample of weight 0 is in no loss, no metric and no gradient.
struct ClassWeightPolicy {
  std::vector<float> of_class = {};          // indexed by class; empty: 1 each
  std::optional<std::int32_t> ignored = {};  // label; need not be a class
  std::string field = {};                    // f32 field with the samples' own weights; "": 1 each
  std::string mask = {};  // i32 field [t] of samples with t labels: 0 leaves one out; "": none

  /// `own` is the value of `field`. 0 for a label that is not a class if classes have weights.
  [[nodiscard]] float weight(std::int32_t label, float own) const;
  /// This rule without weights, for evaluation: 1, or 0 for what is ignored or of weight 0.
  [[nodiscard]] ClassWeightPolicy counting() const;

  bool counts_only = false;  // 1 instead of any weight above 0
};

/// Throws Error{data} unless `own`, the value of `field` of sample `index`, is a weight: a number
/// of at least 0.
void require_weight(float own, const std::string& field, std::int64_t index);

/// Weights for which each class has an equal part in the sum: samples / (classes * samples of the
/// class), scikit-learn's 'balanced'; 0 for a class without samples. Labels that are no class, and
/// the ignored one, are not counted.
[[nodiscard]] std::vector<float> balanced_weights(std::span<const std::int32_t> labels,
                                                  std::int64_t classes,
                                                  std::optional<std::int32_t> ignored);

/// The steps of a sample of `set`: its tokens, or its image [features, 1, steps]; 0: it is neither.
[[nodiscard]] std::int64_t sequence_steps(const Dataset& set);

/// Makes of a set's field `length` which steps of a sample are no padding.
class TimeStepMask {
 public:
  /// Throws Error{config} if samples have no such field, Error{data} if one is not in [0, steps].
  explicit TimeStepMask(const Dataset& set);
  [[nodiscard]] std::size_t bytes() const;
  /// Writes i32 [steps], 1 or 0, for sample `index`.
  void read(const Dataset& set, std::int64_t index, std::byte* out) const;

 private:
  std::int64_t steps_;
  std::size_t field_ = 0;
  PaddingSide padding_ = PaddingSide::end;
};

/// A field of the batches: its place among those of the set, or what a feeder makes.
struct BatchField {
  std::size_t index = 0;
  std::size_t bytes = 0;                            // bytes of a sample
  std::optional<TimeStepMask> mask = std::nullopt;  // mask made of existing lengths
  bool mixed = false;                               // kMixField
};

/// The fields of these names, of the set or kMaskField or kMixField. Throws Error{config} if there
/// is none, Error{data} for a mask of lengths that are not those of sequences of the set.
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
