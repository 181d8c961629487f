// What a run writes with its model after each epoch.
#pragma once

#include <cstdint>
#include <vector>

#include "config/fields.h"

namespace trainyard {

/// Texts of `length` tokens, one for each temperature.
struct GenerateConfig {
  std::vector<double> temperatures{0.2, 0.5, 1.0, 1.2};
  std::int64_t length = 400;
};

void declare(config::Fields& fields, GenerateConfig& generate);

}  // namespace trainyard
