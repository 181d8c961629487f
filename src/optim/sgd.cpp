// Stochastic gradient descent; its arithmetic is in sgd_rule.h.
#include "optim/kinds.h"
#include "optim/settings.h"
#include "optim/sgd_rule.h"

namespace trainyard {

constexpr config::Words<MomentumForm> words(MomentumForm) { return {"keras", "torch"}; }

void declare_momentum_form(config::Fields& fields, MomentumForm& form) {
  if (fields.profile() == config::Profile::torch) form = MomentumForm::torch;
  fields.field("momentum_form", form,
               "keras (caffe, mxnet): the learning rate is in the velocity; torch: it multiplies "
               "the velocity");
}

void declare_momentum(config::Fields& fields, MomentumRule& rule) {
  fields.field("momentum", rule.momentum, "weight of the old velocity",
               {.minimum = 0, .maximum = 1});
  fields.field("nesterov", rule.nesterov, "Nesterov's momentum");
  declare_momentum_form(fields, rule.form);
  if (rule.nesterov && rule.momentum == 0) {
    fields.error("nesterov",
                 "'nesterov' needs a momentum above 0; set momentum or remove nesterov");
  }
}

std::unique_ptr<Optimizer> read_sgd(config::Fields& fields) {
  Optimizer sgd{.name = "sgd", .rate = 0.01};
  MomentumRule rule;
  declare_rate(fields, sgd);
  declare_momentum(fields, rule);
  declare_decays(fields, sgd);
  if (rule.momentum != 0) {
    sgd.rule = rule;
    sgd.slots = {{"momentum"}};
  }
  return std::make_unique<Optimizer>(std::move(sgd));
}

}  // namespace trainyard
