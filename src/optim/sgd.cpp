// Stochastic gradient descent; its arithmetic is in sgd_rule.h.
#include "optim/kinds.h"
#include "optim/settings.h"
#include "optim/sgd_rule.h"

namespace trainyard {

std::span<const config::Word<MomentumForm>> words(MomentumForm) {
  static constexpr config::Word<MomentumForm> kWords[] = {{MomentumForm::keras, "keras"},
                                                          {MomentumForm::torch, "torch"}};
  return kWords;
}

namespace {

struct SgdSettings {
  double lr = 0.01;
  double momentum = 0;
  bool nesterov = false;
  MomentumForm form = MomentumForm::keras;
  WeightDecay weight_decay;
  double time_decay = 0;
};

class Sgd final : public Optimizer {
 public:
  explicit Sgd(SgdSettings settings) : settings_(std::move(settings)) {}
  [[nodiscard]] std::string_view name() const override { return "sgd"; }
  [[nodiscard]] double rate() const override { return settings_.lr; }
  [[nodiscard]] double decay(ParameterGroup group) const override {
    return settings_.weight_decay.of(group);
  }
  [[nodiscard]] std::vector<std::string> slots() const override {
    return settings_.momentum == 0 ? std::vector<std::string>{}
                                   : std::vector<std::string>{"momentum"};
  }
  [[nodiscard]] double time_decay() const override { return settings_.time_decay; }
  [[nodiscard]] UpdateRule rule() const override {
    if (settings_.momentum == 0) return PlainRule{};
    return MomentumRule{settings_.momentum, settings_.form, settings_.nesterov};
  }

 private:
  SgdSettings settings_;
};

}  // namespace

std::unique_ptr<Optimizer> read_sgd(config::Fields& fields) {
  SgdSettings sgd;
  sgd.form = fields.profile() == config::Profile::torch ? MomentumForm::torch : MomentumForm::keras;
  fields.field("lr", sgd.lr, "learning rate; the schedule starts from it", {.minimum = 0});
  fields.field("momentum", sgd.momentum, "weight of the old velocity",
               {.minimum = 0, .maximum = 1});
  fields.field("nesterov", sgd.nesterov, "Nesterov's momentum");
  fields.field("momentum_form", sgd.form,
               "keras (caffe, mxnet): the learning rate is in the velocity; torch: it multiplies "
               "the velocity");
  declare_weight_decay(fields, sgd.weight_decay);
  declare_time_decay(fields, sgd.time_decay);
  if (sgd.nesterov && sgd.momentum == 0) {
    fields.error("nesterov",
                 "'nesterov' needs a momentum above 0; set momentum or remove nesterov");
  }
  return std::make_unique<Sgd>(std::move(sgd));
}

}  // namespace trainyard
