// LARS; its arithmetic is in lars_rule.h.
#include "optim/kinds.h"
#include "optim/lars_rule.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_lars(config::Fields& fields) {
  Optimizer lars{.name = "lars", .rate = 0.1};
  LarsRule rule{.momentum = {.momentum = 0.9}, .eta = 1e-3, .epsilon = 1e-8};
  declare_rate(fields, lars);
  declare_momentum(fields, rule.momentum);
  fields.field("eta", rule.eta, "factor of the trust ratio",
               {.minimum = 0, .exclusive_minimum = true});
  fields.field("epsilon", rule.epsilon, "added to the divisor of the trust ratio", {.minimum = 0});
  declare_ratio_groups(fields, lars);
  declare_decays(fields, lars);
  lars.slots = {{"momentum"}};
  lars.rule = rule;
  return std::make_unique<Optimizer>(std::move(lars));
}

}  // namespace trainyard
