#include "ops/rate.h"

#include <string>

#include "base/text.h"

namespace trainyard {

void declare_rate(config::Fields& fields, std::string_view key, double& rate,
                  std::string_view help) {
  fields.field(key, rate, help, {.minimum = 0});
  if (rate < 1) return;
  fields.error(key, "'" + std::string(key) + "' must be below 1, found " + number_text(rate));
  rate = 0;
}

}  // namespace trainyard
