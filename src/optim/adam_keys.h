// Keys that the optimizers of Adam's family share.
#pragma once

#include "config/fields.h"
#include "optim/adam_rule.h"

namespace trainyard {

struct AdamKeys {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  AdamForm form = AdamForm::keras;
};

/// The profile's `epsilon` and form.
void follow_adam_profile(config::Profile profile, AdamKeys& keys);
/// `beta1`, `beta2` and `epsilon`.
void declare_adam_means(config::Fields& fields, AdamKeys& keys);

}  // namespace trainyard
