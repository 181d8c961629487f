// How often the epochs of a run take each sample.
#pragma once

#include <memory>

#include "data/sets/balanced_sampler.h"
#include "data/sets/dataset.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The sampler of the run's training split, which is `train`; null: each sample once. It never
/// takes samples that `ignore_label` leaves out. Throws Error{config} at the source if samples have
/// not one class each, or all the same one.
[[nodiscard]] std::shared_ptr<const BalancedSampler> sampler_of(const RunConfig& run,
                                                                const Dataset& train);

}  // namespace trainyard
