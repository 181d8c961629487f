// Adam, AdamW and AMSGrad; their arithmetic is in adam_rule.h.
#include "optim/adam_keys.h"
#include "optim/adam_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {

constexpr config::Words<AdamForm> words(AdamForm) { return {"keras", "torch"}; }

void follow_adam_profile(config::Profile profile, AdamKeys& keys) {
  if (profile == config::Profile::torch) keys.form = AdamForm::torch;
  if (profile != config::Profile::keras2) keys.epsilon = 1e-8;
}

void declare_adam_means(config::Fields& fields, AdamKeys& keys) {
  declare_mean_weight(fields, "beta1", keys.beta1, "weight of the old mean");
  declare_mean_weight(fields, "beta2", keys.beta2, "weight of the old mean square");
  declare_epsilon(fields, keys.epsilon);
}

namespace {

std::unique_ptr<Optimizer> read_adam_as(config::Fields& fields, Optimizer adam) {
  AdamKeys keys;
  bool amsgrad = false;
  follow_adam_profile(fields.profile(), keys);
  declare_rate(fields, adam);
  declare_adam_means(fields, keys);
  fields.field("form", keys.form,
               "keras: epsilon added to the uncorrected root; torch: to the corrected one");
  fields.field("amsgrad", amsgrad, "the largest mean square so far in place of the present one");
  declare_decays(fields, adam);
  adam.slots = {{"mean"}, {"square"}};
  if (amsgrad) {
    adam.slots.push_back({"largest_square"});
    adam.rule = AdamRule<true>{keys.beta1, keys.beta2, keys.epsilon, keys.form};
  } else {
    adam.rule = AdamRule<false>{keys.beta1, keys.beta2, keys.epsilon, keys.form};
  }
  return std::make_unique<Optimizer>(std::move(adam));
}

}  // namespace

std::unique_ptr<Optimizer> read_adam(config::Fields& fields) {
  return read_adam_as(fields, {.name = "adam", .rate = 1e-3});
}

std::unique_ptr<Optimizer> read_adamw(config::Fields& fields) {
  return read_adam_as(
      fields, {.name = "adamw", .rate = 1e-3, .weight_decay = {.amount = 0.01, .decoupled = true}});
}

}  // namespace trainyard
