// The weights of targets: of classes, of samples, and of what is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

}  // namespace trainyard
