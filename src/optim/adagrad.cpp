// Adagrad; its arithmetic is in adagrad_rule.h.
#include "optim/adagrad_rule.h"
#include "optim/kinds.h"
#include "optim/settings.h"

namespace trainyard {
namespace {

struct AdagradSettings {
  double lr = 0.01;
  double epsilon = 1e-7;
  WeightDecay weight_decay;
  double time_decay = 0;
};

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(AdagradSettings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] std::string_view name() const override { return "adagrad"; }
  [[nodiscard]] double rate() const override { return settings_.lr; }
  [[nodiscard]] double decay(ParameterGroup group) const override {
    return settings_.weight_decay.of(group);
  }
  [[nodiscard]] std::vector<std::string> slots() const override { return {"square_sum"}; }
  [[nodiscard]] double time_decay() const override { return settings_.time_decay; }
  [[nodiscard]] UpdateRule rule() const override { return AdagradRule{settings_.epsilon}; }

 private:
  AdagradSettings settings_;
};

}  // namespace

std::unique_ptr<Optimizer> read_adagrad(config::Fields& fields) {
  AdagradSettings adagrad;
  if (fields.profile() == config::Profile::torch) adagrad.epsilon = 1e-10;
  fields.field("lr", adagrad.lr, "learning rate; the schedule starts from it", {.minimum = 0});
  fields.field("epsilon", adagrad.epsilon, "added to the root",
               {.minimum = 0, .exclusive_minimum = true});
  declare_weight_decay(fields, adagrad.weight_decay);
  declare_time_decay(fields, adagrad.time_decay);
  return std::make_unique<Adagrad>(std::move(adagrad));
}

}  // namespace trainyard
