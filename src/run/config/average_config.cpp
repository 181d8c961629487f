#include "run/config/average_config.h"

#include <fmt/format.h>

#include <array>

namespace trainyard {

constexpr config::Words<AverageConfig::Judged> words(AverageConfig::Judged) {
  return {"average", "trained"};
}

void declare(config::Fields& fields, AverageConfig& average) {
  fields.required("ema", average.ema,
                  "decay of the exponential moving average of weights and running statistics",
                  {.minimum = 0});
  fields.field("warmup", average.warmup,
               "begin with a smaller decay: min(ema, (1 + t) / (10 + t)) after t steps");
  fields.field("judged", average.judged,
               "the copy that is evaluated, chosen as the best, and saved in weights/");
  if (!fields.describing() && average.ema >= 1) {
    fields.error("ema", fmt::format("'ema' must be below 1, found {}: an average with that decay "
                                    "would never change",
                                    average.ema));
  }
}

}  // namespace trainyard
