// Adagrad; its arithmetic is in adagrad_rule.h.
#include "optim/adagrad_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {

std::unique_ptr<Optimizer> read_adagrad(config::Fields& fields) {
  Optimizer adagrad{.name = "adagrad", .rate = 0.01};
  AdagradRule rule{.root = {.epsilon = 1e-7}};
  OptimizerSlot squares{"square_sum"};
  if (fields.profile() == config::Profile::torch) rule.root.epsilon = 1e-10;
  if (fields.profile() == config::Profile::caffe) rule.root.epsilon = 1e-8;
  if (fields.profile() == config::Profile::mxnet) {
    rule.root.place = EpsilonPlace::inside;
    adagrad.weight_decay.decoupled = true;
  }
  declare_rate(fields, adagrad);
  declare_root(fields, rule.root);
  fields.field("start", squares.start, "the sum of squares before the first step", {.minimum = 0});
  declare_decays(fields, adagrad);
  adagrad.slots = {squares};
  adagrad.rule = rule;
  return std::make_unique<Optimizer>(std::move(adagrad));
}

}  // namespace trainyard
