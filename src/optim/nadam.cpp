// Nadam; its arithmetic is in nadam_rule.h.
#include <cmath>

#include "optim/adam_keys.h"
#include "optim/kinds.h"
#include "optim/nadam_rule.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_nadam(config::Fields& fields) {
  Optimizer nadam{.name = "nadam", .rate = 2e-3};
  AdamKeys keys;
  double schedule_decay = 0.004;
  follow_adam_profile(fields.profile(), keys);
  declare_rate(fields, nadam);
  declare_adam_means(fields, keys);
  fields.field("schedule_decay", schedule_decay,
               "s in the momentum of step t, beta1 * (1 - 0.5 * 0.96^(t * s))", {.minimum = 0});
  declare_decays(fields, nadam);
  nadam.slots = {{"mean"}, {"square"}};
  nadam.rule = NadamRule{keys.beta1, keys.beta2, keys.epsilon, std::pow(0.96, schedule_decay)};
  return std::make_unique<Optimizer>(std::move(nadam));
}

}  // namespace trainyard
