// RMSprop; its arithmetic is in rmsprop_rule.h.
#include "optim/kinds.h"
#include "optim/rmsprop_rule.h"
#include "optim/settings.h"

namespace trainyard {
namespace {

/// The keys of every variant of the rule.
struct RmspropKeys {
  double rho = 0.9;
  SafeRoot root{.epsilon = 1e-7};
  double start = 0;
  bool centered = false;
  double momentum = 0;
  MomentumForm form = MomentumForm::keras;
};

void follow_profile(config::Profile profile, RmspropKeys& keys, Optimizer& rmsprop) {
  if (profile == config::Profile::keras2) return;
  keys.root.epsilon = 1e-8;
  if (profile == config::Profile::torch) rmsprop.rate = 0.01;
  if (profile == config::Profile::mxnet) {
    keys.root.place = EpsilonPlace::inside;
  } else {
    keys.rho = 0.99;
  }
}

void declare(config::Fields& fields, RmspropKeys& keys) {
  declare_mean_weight(fields, "rho", keys.rho, "weight of the old mean square");
  declare_root(fields, keys.root);
  fields.field("start", keys.start, "the mean square before the first step", {.minimum = 0});
  fields.field("centered", keys.centered,
               "subtract the square of the running mean gradient (Graves 2013)");
  if (keys.centered && fields.profile() == config::Profile::mxnet) keys.momentum = 0.9;
  fields.field("momentum", keys.momentum, "weight of the old velocity",
               {.minimum = 0, .maximum = 1});
  declare_momentum_form(fields, keys.form);
}

template <bool centered, bool with_momentum>
UpdateRule variant_of(const RmspropKeys& keys) {
  return RmspropRule<centered, with_momentum>{keys.rho, keys.root, keys.momentum, keys.form};
}

UpdateRule rule_of(const RmspropKeys& keys) {
  if (keys.momentum == 0) {
    return keys.centered ? variant_of<true, false>(keys) : variant_of<false, false>(keys);
  }
  return keys.centered ? variant_of<true, true>(keys) : variant_of<false, true>(keys);
}

}  // namespace

std::unique_ptr<Optimizer> read_rmsprop(config::Fields& fields) {
  Optimizer rmsprop{.name = "rmsprop", .rate = 1e-3};
  RmspropKeys keys;
  follow_profile(fields.profile(), keys, rmsprop);
  declare_rate(fields, rmsprop);
  declare(fields, keys);
  declare_decays(fields, rmsprop);
  rmsprop.slots = {{"square", keys.start}};
  if (keys.centered) rmsprop.slots.push_back({"mean"});
  if (keys.momentum != 0) rmsprop.slots.push_back({"momentum"});
  rmsprop.rule = rule_of(keys);
  return std::make_unique<Optimizer>(std::move(rmsprop));
}

}  // namespace trainyard
