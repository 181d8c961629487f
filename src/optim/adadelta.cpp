// Adadelta; its arithmetic is in adadelta_rule.h.
#include "optim/adadelta_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_adadelta(config::Fields& fields) {
  Optimizer adadelta{.name = "adadelta", .rate = 1};
  AdadeltaRule rule{.rho = 0.95, .epsilon = 1e-7};
  if (fields.profile() == config::Profile::torch) rule = {.rho = 0.9, .epsilon = 1e-6};
  if (fields.profile() == config::Profile::mxnet) {
    rule = {.rho = 0.9, .epsilon = 1e-5};
    adadelta.weight_decay.decoupled = true;
  }
  declare_rate(fields, adadelta);
  declare_mean_weight(fields, "rho", rule.rho, "weight of the old mean squares");
  fields.field("epsilon", rule.epsilon, "added to both mean squares under their roots",
               {.minimum = 0, .exclusive_minimum = true});
  declare_decays(fields, adadelta);
  adadelta.slots = {{"square"}, {"square_change"}};
  adadelta.rule = rule;
  return std::make_unique<Optimizer>(std::move(adadelta));
}

}  // namespace trainyard
