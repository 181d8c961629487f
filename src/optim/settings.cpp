#include "optim/settings.h"

#include <algorithm>

namespace trainyard {

std::string_view word_of(ParameterGroup group) {
  switch (group) {
    case ParameterGroup::kernel:
      return "kernel";
    case ParameterGroup::bias:
      return "bias";
    case ParameterGroup::gamma:
      return "gamma";
    case ParameterGroup::beta:
      return "beta";
  }
  return "";
}

double WeightDecay::of(ParameterGroup group) const {
  return std::find(on.begin(), on.end(), word_of(group)) == on.end() ? 0 : amount;
}

void declare_weight_decay(config::Fields& fields, WeightDecay& decay) {
  if (fields.profile() == config::Profile::mxnet) decay.on = {"kernel", "gamma"};
  if (fields.profile() == config::Profile::caffe) decay.on = {"kernel", "bias", "gamma", "beta"};
  fields.field("weight_decay", decay.amount, "weight decay, added to the gradient as decay * w",
               {.minimum = 0});
  fields.field("decay_on", decay.on,
               "parameter groups that weight_decay applies to: kernel, bias, gamma, beta");
  const std::vector<std::string> groups{"kernel", "bias", "gamma", "beta"};
  for (const std::string& group : decay.on) {
    if (std::find(groups.begin(), groups.end(), group) != groups.end()) continue;
    fields.error("decay_on", "unknown parameter group '" + group +
                                 "'; expected kernel, bias, gamma or beta" +
                                 config::suggestion(group, groups));
  }
}

void declare_time_decay(config::Fields& fields, double& decay) {
  fields.field("decay", decay, "Keras's decay: lr / (1 + decay * finished steps)", {.minimum = 0});
}

}  // namespace trainyard
