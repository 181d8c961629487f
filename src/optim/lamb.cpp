// LAMB; its arithmetic is in lamb_rule.h.
#include "optim/adam_keys.h"
#include "optim/kinds.h"
#include "optim/lamb_rule.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_lamb(config::Fields& fields) {
  Optimizer lamb{.name = "lamb", .rate = 1e-3, .weight_decay = {.amount = 0.01}};
  AdamKeys keys{.epsilon = 1e-6, .form = AdamForm::torch};
  declare_rate(fields, lamb);
  declare_adam_means(fields, keys);
  declare_ratio_groups(fields, lamb);
  declare_decays(fields, lamb);
  lamb.slots = {{"mean"}, {"square"}};
  lamb.rule = LambRule{{keys.beta1, keys.beta2, keys.epsilon, keys.form}};
  return std::make_unique<Optimizer>(std::move(lamb));
}

}  // namespace trainyard
