// The batch of a run in numbers: of a pass, of a step and of an epoch.
#pragma once

#include <cstdint>

#include "run/config/run_config.h"

namespace trainyard {

/// As the banner shows them.
struct BatchNumbers {
  std::int64_t replica = 1;  // samples per forward pass
  std::int64_t ranks = 1;
  std::int64_t global = 1;   // samples per step
  std::int64_t steps = 0;    // per epoch
  std::int64_t dropped = 0;  // samples left out per epoch
};

/// Samples of a replica's forward pass. Throws Error{config} if `batch.total` is not divisible by
/// the passes of all `ranks`.
[[nodiscard]] std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks);

/// Samples of a step. Throws as replica_batch().
[[nodiscard]] std::int64_t global_batch(const RunConfig& run, std::int64_t ranks);

/// The numbers of a run on `ranks` ranks whose training split has `samples` samples. Throws
/// Error{config} as replica_batch(), or if the samples do not fill one step.
[[nodiscard]] BatchNumbers batch_numbers(const RunConfig& run, std::int64_t ranks,
                                         std::int64_t samples);

}  // namespace trainyard
