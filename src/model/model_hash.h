// A hash of a model's state.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/model.h"

namespace trainyard {

/// The hash of weights, optimizer state and running statistics, as stored in memory. Waits for the
/// model's queue; `copy` is workspace reused between calls.
[[nodiscard]] std::string model_hash(const Model& model, std::vector<std::byte>& copy);

}  // namespace trainyard
