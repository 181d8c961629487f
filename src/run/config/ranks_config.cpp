#include "run/config/ranks_config.h"

#include <algorithm>
#include <array>
#include <span>

namespace trainyard {

using config::Fields;
using config::Limits;

std::span<const config::Word<RanksConfig::Transport>> words(RanksConfig::Transport) {
  using Transport = RanksConfig::Transport;
  static constexpr std::array list{config::Word<Transport>{Transport::fp32, "fp32"},
                                   config::Word<Transport>{Transport::bf16, "bf16"},
                                   config::Word<Transport>{Transport::fp16, "fp16"}};
  return list;
}

std::string_view name_of(RanksConfig::Transport transport) {
  const auto list = words(transport);
  return std::ranges::find(list, transport, &config::Word<RanksConfig::Transport>::value)->word;
}

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
