// RMSprop; its arithmetic is in rmsprop_rule.h.
#include "optim/kinds.h"
#include "optim/rmsprop_rule.h"
#include "optim/settings.h"

namespace trainyard {
namespace {

struct RmspropSettings {
  double lr = 1e-3;
  double rho = 0.9;
  double epsilon = 1e-7;
  WeightDecay weight_decay;
  double time_decay = 0;
};

class Rmsprop final : public Optimizer {
 public:
  explicit Rmsprop(RmspropSettings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] std::string_view name() const override { return "rmsprop"; }
  [[nodiscard]] double rate() const override { return settings_.lr; }
  [[nodiscard]] double decay(ParameterGroup group) const override {
    return settings_.weight_decay.of(group);
  }
  [[nodiscard]] std::vector<std::string> slots() const override { return {"square"}; }
  [[nodiscard]] double time_decay() const override { return settings_.time_decay; }
  [[nodiscard]] UpdateRule rule() const override {
    return RmspropRule{settings_.rho, settings_.epsilon};
  }

 private:
  RmspropSettings settings_;
};

}  // namespace

std::unique_ptr<Optimizer> read_rmsprop(config::Fields& fields) {
  RmspropSettings rmsprop;
  if (fields.profile() == config::Profile::torch) {
    rmsprop.lr = 0.01;
    rmsprop.rho = 0.99;
    rmsprop.epsilon = 1e-8;
  }
  fields.field("lr", rmsprop.lr, "learning rate; the schedule starts from it", {.minimum = 0});
  fields.field("rho", rmsprop.rho, "weight of the old mean square",
               {.minimum = 0, .maximum = 0.999999});
  fields.field("epsilon", rmsprop.epsilon, "added to the root",
               {.minimum = 0, .exclusive_minimum = true});
  declare_weight_decay(fields, rmsprop.weight_decay);
  declare_time_decay(fields, rmsprop.time_decay);
  return std::make_unique<Rmsprop>(std::move(rmsprop));
}

}  // namespace trainyard
