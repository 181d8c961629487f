#include "run/config/generate_config.h"

namespace trainyard {

void declare(config::Fields& fields, GenerateConfig& generate) {
  fields.field("temperatures", generate.temperatures,
               "one text each; probabilities to the power 1 / temperature, so that low ones write "
               "what is likely, and 0 only what is most likely",
               {.minimum = 0, .maximum = 100});
  fields.field("length", generate.length, "tokens of a text", {.minimum = 1, .maximum = 1'000'000});
  if (generate.temperatures.empty()) {
    fields.error("temperatures", "expected at least one temperature");
  }
}

}  // namespace trainyard
