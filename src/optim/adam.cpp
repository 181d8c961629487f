// Adam; its arithmetic is in adam_rule.h.
#include "optim/adam_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {

std::span<const config::Word<AdamForm>> words(AdamForm) {
  static constexpr config::Word<AdamForm> kWords[] = {{AdamForm::keras, "keras"},
                                                      {AdamForm::torch, "torch"}};
  return kWords;
}

namespace {

struct AdamSettings {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  AdamForm form = AdamForm::keras;
  WeightDecay weight_decay;
  double time_decay = 0;
};

class Adam final : public Optimizer {
 public:
  explicit Adam(AdamSettings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] std::string_view name() const override { return "adam"; }
  [[nodiscard]] double rate() const override { return settings_.lr; }
  [[nodiscard]] double decay(ParameterGroup group) const override {
    return settings_.weight_decay.of(group);
  }
  [[nodiscard]] std::vector<std::string> slots() const override { return {"mean", "square"}; }
  [[nodiscard]] double time_decay() const override { return settings_.time_decay; }
  [[nodiscard]] UpdateRule rule() const override {
    return AdamRule{settings_.beta1, settings_.beta2, settings_.epsilon, settings_.form};
  }

 private:
  AdamSettings settings_;
};

}  // namespace

std::unique_ptr<Optimizer> read_adam(config::Fields& fields) {
  AdamSettings adam;
  if (fields.profile() == config::Profile::torch) adam.form = AdamForm::torch;
  if (fields.profile() != config::Profile::keras2) adam.epsilon = 1e-8;
  fields.field("lr", adam.lr, "learning rate; the schedule starts from it", {.minimum = 0});
  fields.field("beta1", adam.beta1, "weight of the old mean", {.minimum = 0, .maximum = 0.999999});
  fields.field("beta2", adam.beta2, "weight of the old mean square",
               {.minimum = 0, .maximum = 0.999999});
  fields.field("epsilon", adam.epsilon, "added to the root",
               {.minimum = 0, .exclusive_minimum = true});
  fields.field("form", adam.form,
               "keras: epsilon added to the uncorrected root; torch: to the corrected one");
  declare_weight_decay(fields, adam.weight_decay);
  declare_time_decay(fields, adam.time_decay);
  return std::make_unique<Adam>(std::move(adam));
}

}  // namespace trainyard
