#include "run/config/train_eval_config.h"

#include <string_view>

#include "run/config/interval.h"

namespace trainyard {

void declare(config::Fields& fields, TrainEvalConfig& clean) {
  constexpr std::string_view kForm = "a number of epochs, such as '5 epochs'";
  fields.saying(kForm).required("every", clean.every, "how often: 'every 5 epochs', or '5 epochs'");
  fields.field(
      "samples", clean.samples,
      "training samples to measure, drawn from the seed, the same each time; 0: as many as "
      "the validation split has",
      {.minimum = 0});
  constexpr std::string_view kEvery = "every ";
  const std::string_view text = clean.every;
  const auto interval = interval_of(text.starts_with(kEvery) ? text.substr(kEvery.size()) : text);
  if (interval && interval->unit == Interval::Unit::epoch) {
    clean.epochs = interval->count;
  } else if (!fields.describing() && !text.empty()) {
    fields.error("every",
                 "'every' must be " + std::string(kForm) + ", found '" + clean.every + "'");
  }
}

}  // namespace trainyard
