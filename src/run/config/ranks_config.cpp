#include "run/config/ranks_config.h"

namespace trainyard {

using config::Fields;
using config::Limits;

constexpr config::Words<RanksConfig::Transport> words(RanksConfig::Transport) {
  return {"fp32", "bf16", "fp16"};
}

std::string_view name_of(RanksConfig::Transport transport) { return config::word_of(transport); }

void declare(Fields& fields, RanksConfig& ranks) {
  fields.field("check_weights", ranks.check_weights,
               "steps between comparisons of a hash of all ranks' weights, optimizer state and "
               "statistics; 0: never",
               {.minimum = 0});
  fields.field(
      "transport", ranks.transport,
      "dtype that gradients are rounded to for the all-reduce between ranks; a single rank "
      "sends none and rounds none");
}

void declare(Fields& fields, RankLimits& limits) {
  const Limits seconds{.minimum = 0.1, .maximum = 86400};
  fields.field("first_step", limits.first_step,
               "seconds for all ranks to join, and then for the first step", seconds);
  fields.field("step", limits.step,
               "seconds a rank may go without progress, or 20 of its median steps if longer",
               seconds);
  fields.field("silence", limits.silence, "seconds a rank may go without a heartbeat", seconds);
}

}  // namespace trainyard
