// Training metrics measured as those of the validation are, as a run file says.
#pragma once

#include <cstdint>
#include <string>

#include "config/fields.h"

namespace trainyard {

struct TrainEvalConfig {
  std::string every;
  std::int64_t epochs = 1;   // from `every`
  std::int64_t samples = 0;  // 0: as many as the validation split has
};

void declare(config::Fields& fields, TrainEvalConfig& clean);

}  // namespace trainyard
