// The loss of every sample of a split, from the network's outputs for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/sets/dataset.h"
#include "run/config/run_config.h"

namespace trainyard {

/// What the loss on a network's last layer compares its outputs for a split with.
struct SplitTargets {
  std::shared_ptr<const LossOp> loss;
  std::vector<std::int32_t> labels = {};  // [samples]; or
  std::vector<float> numbers = {};        // [samples, outputs]
  SampleField field = {};                 // field that they are of
};

/// Targets of `set`; empty if no loss is on the last layer, or if samples have several labels or
/// not the field of its target.
[[nodiscard]] std::optional<SplitTargets> split_targets(const RunConfig& run, const Dataset& set);

/// The loss of each of `samples` rows of outputs, [samples, width], computed by the processor in
/// float: without the weights of samples and of the loss. NaN for a label that is not a class.
[[nodiscard]] std::vector<float> sample_losses(const SplitTargets& targets,
                                               std::span<const float> outputs,
                                               std::int64_t samples);

}  // namespace trainyard
