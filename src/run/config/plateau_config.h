// `plateau` of a run: the learning rate falls when a metric stops improving.
#pragma once

#include <string>

#include "config/fields.h"
#include "optim/plateau.h"

namespace trainyard {

struct PlateauConfig {
  std::string monitor = "val_loss";
  PlateauRule rule;
};

void declare(config::Fields& fields, PlateauConfig& plateau);

struct RunConfig;
/// A warning for a plateau beside a schedule, which it multiplies; else "".
[[nodiscard]] std::string plateau_warning(const RunConfig& run);

}  // namespace trainyard
