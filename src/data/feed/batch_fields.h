// Where the fields of batches come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/feed/class_weight_policy.h"
#include "data/feed/time_step_mask.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// A field of the batches: its place among those of the set, or what a feeder makes.
struct BatchField {
  std::size_t index = 0;
  std::size_t bytes = 0;                            // of a sample
  std::optional<TimeStepMask> mask = std::nullopt;  // of the lengths that are there
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

}  // namespace trainyard
