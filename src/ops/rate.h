// Rates of dropout.
#pragma once

#include <string_view>

#include "config/fields.h"

namespace trainyard {

/// A fraction in [0, 1).
void declare_rate(config::Fields& fields, std::string_view key, double& rate,
                  std::string_view help);

}  // namespace trainyard
