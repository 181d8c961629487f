// Adamax; its arithmetic is in adamax_rule.h.
#include "optim/adam_keys.h"
#include "optim/adamax_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_adamax(config::Fields& fields) {
  Optimizer adamax{.name = "adamax", .rate = 2e-3};
  AdamKeys keys;
  follow_adam_profile(fields.profile(), keys);
  declare_rate(fields, adamax);
  declare_adam_means(fields, keys);
  fields.field("form", keys.form,
               "keras: epsilon added to the largest gradient; torch: to each gradient before the "
               "largest is taken");
  declare_decays(fields, adamax);
  adamax.slots = {{"mean"}, {"largest"}};
  adamax.rule = AdamaxRule{keys.beta1, keys.beta2, keys.epsilon, keys.form};
  return std::make_unique<Optimizer>(std::move(adamax));
}

}  // namespace trainyard
