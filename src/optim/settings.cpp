#include "optim/settings.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr std::array<std::string_view, 4> kGroups{"kernel", "bias", "gamma", "beta"};

}  // namespace

std::string_view word_of(ParameterGroup group) {
  return kGroups.at(static_cast<std::size_t>(group));
}

bool is_one_of(ParameterGroup group, const std::vector<std::string>& words) {
  return std::ranges::find(words, word_of(group)) != words.end();
}

double WeightDecay::of(ParameterGroup group) const { return is_one_of(group, on) ? amount : 0; }

namespace {

void declare_groups(config::Fields& fields, std::string_view key, std::vector<std::string>& groups,
                    std::string_view help) {
  fields.field(key, groups, help);
  const std::vector<std::string> known(kGroups.begin(), kGroups.end());
  for (const std::string& group : groups) {
    if (std::ranges::find(known, group) != known.end()) continue;
    fields.error(key, "unknown parameter group '" + group +
                          "'; expected kernel, bias, gamma or beta" +
                          config::suggestion(group, known));
  }
}

void declare_weight_decay(config::Fields& fields, WeightDecay& decay) {
  if (fields.profile() == config::Profile::mxnet) decay.on = {"kernel", "gamma"};
  if (fields.profile() == config::Profile::caffe) decay.on = {"kernel", "bias", "gamma", "beta"};
  fields.field("weight_decay", decay.amount, "weight decay, added to the gradient as decay * w",
               {.minimum = 0});
  declare_groups(fields, "decay_on", decay.on,
                 "parameter groups that weight_decay applies to: kernel, bias, gamma, beta");
  fields.field("decoupled_decay", decay.decoupled,
               "apply weight_decay to the weight, w *= 1 - lr * decay, not to the gradient");
}

}  // namespace

void declare_rate(config::Fields& fields, OptimizerSettings& optimizer) {
  fields.field("lr", optimizer.rate, "learning rate; the schedule starts from it", {.minimum = 0});
}

void declare_ratio_groups(config::Fields& fields, OptimizerSettings& optimizer) {
  optimizer.ratio_on = {"kernel"};
  declare_groups(fields, "ratio_on", optimizer.ratio_on,
                 "parameter groups whose rate has the trust ratio: kernel, bias, gamma, beta");
}

void declare_decays(config::Fields& fields, OptimizerSettings& optimizer) {
  declare_weight_decay(fields, optimizer.weight_decay);
  fields.field("decay", optimizer.time_decay, "Keras's decay: lr / (1 + decay * finished steps)",
               {.minimum = 0});
}

void declare_epsilon(config::Fields& fields, double& epsilon) {
  fields.field("epsilon", epsilon, "added to the root", {.minimum = 0, .exclusive_minimum = true});
}

void declare_root(config::Fields& fields, SafeRoot& root) {
  declare_epsilon(fields, root.epsilon);
  fields.field("epsilon_place", root.place,
               "outside: added to the root; inside: to the mean square under it");
}

void declare_mean_weight(config::Fields& fields, std::string_view key, double& weight,
                         std::string_view help) {
  fields.field(key, weight, help, {.minimum = 0, .maximum = 0.999999});
}

constexpr config::Words<EpsilonPlace> words(EpsilonPlace) { return {"outside", "inside"}; }

}  // namespace trainyard
