// Checks that all ranks still have the same model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "ranks/rank_group.h"

namespace trainyard {

/// The hash of weights, optimizer state and running statistics, as stored in memory. Waits for the
/// model's queue; `copy` is workspace reused between calls.
[[nodiscard]] std::string model_hash(const Model& model, std::vector<std::byte>& copy);

/// Throws Error{device} naming the first rank whose `hash` is not rank 0's, after `step` steps.
/// Every rank calls it.
void require_equal_models(const std::string& hash, RankGroup& ranks, std::int64_t step);

}  // namespace trainyard
