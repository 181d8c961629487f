// What the batches of a run have besides images: fields of the samples, and weights; and how often
// its epochs take each sample.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "data/feed/batch_fields.h"
#include "data/sets/dataset.h"
#include "data/sets/epoch_order.h"
#include "run/config/run_config.h"

namespace trainyard {

/// Throws Error{config} for a set without classes if the run reads labels.
void require_classes(const RunConfig& run, const Dataset& set);

/// Throws Error{config} for a label below 0 that the run reads and does not ignore, as a loss on it
/// is not a number; `what` is `set` in this message: "the validation split".
void require_labels(const RunConfig& run, const Dataset& set, const std::string& what);

/// Throws Error{config} if the run mixes samples that have no pixels or several labels, or by
/// cutmix some of one pixel a row or column; `sample` is their shape as they are made, [c, h, w].
void require_mixable(const RunConfig& run, const Dataset& train, const Shape& sample);

/// The weights of samples that a run has, from `class_weights`, `ignore_label` and
/// `sample_weights`, and of positions that `mask` leaves out (ClassWeightPolicy); empty: none.
/// Throws Error{config} at a class that the training split does not have or at a weight that is
/// none, and as require_labels().
[[nodiscard]] std::optional<ClassWeightPolicy> class_weight_policy(const RunConfig& run,
                                                                   const Dataset& train,
                                                                   const std::string& mask = "");

/// The sampler of the run's training split, which is `train`; null: each sample once. It never
/// takes samples that `ignore_label` leaves out. Throws Error{config} at the source if samples have
/// not one class each, or all the same one.
[[nodiscard]] std::shared_ptr<const BalancedSampler> sampler_of(const RunConfig& run,
                                                                const Dataset& train);

}  // namespace trainyard
