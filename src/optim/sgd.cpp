// Stochastic gradient descent (semantics.md section 2 of the design's reference).
//
//   keras, caffe, mxnet: v = m v + lr (g + decay w);  w -= v        Nesterov: w -= m v + lr (g +
//   decay w) torch:               v = m v + g + decay w;       w -= lr v     Nesterov: w -= lr (g +
//   decay w + m v)
//
// Keras keeps -v and adds it; the weights are the same bits. The forms differ once the rate
// changes.
#include "optim/kinds.h"
#include "optim/settings.h"
#include "optim/update.h"

namespace trainyard {
namespace {

enum class MomentumForm { keras, torch };

[[maybe_unused]] std::span<const config::Word<MomentumForm>> words(MomentumForm) {
  static constexpr config::Word<MomentumForm> kWords[] = {{MomentumForm::keras, "keras"},
                                                          {MomentumForm::torch, "torch"}};
  return kWords;
}

/// The rule without momentum: no state.
template <class T>
struct PlainRule {
  static constexpr std::size_t kSlots = 0;
  struct Step {
    T rate, decay;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      e.weight -= rate * (gradient + decay * e.weight);
    }
  };
  TY_HD Step step(double rate, double decay, std::int64_t) const {
    return {static_cast<T>(rate), static_cast<T>(decay)};
  }
};

/// The rules with momentum. The velocity is v; `scale` is what the gradient enters it with (the
/// rate, or 1) and `apply` what it leaves with (1, or the rate).
template <class T>
struct MomentumRule {
  static constexpr std::size_t kSlots = 1;
  double momentum;
  MomentumForm form;
  bool nesterov;

  struct Step {
    T scale, apply, decay, momentum;
    bool nesterov;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T change = scale * (gradient + decay * e.weight);
      const T velocity = momentum * e.first + change;
      e.weight -= apply * (nesterov ? momentum * velocity + change : velocity);
      e.first = velocity;
    }
  };
  TY_HD Step step(double rate, double decay, std::int64_t) const {
    const bool torch = form == MomentumForm::torch;
    return {static_cast<T>(torch ? 1.0 : rate), static_cast<T>(torch ? rate : 1.0),
            static_cast<T>(decay), static_cast<T>(momentum), nesterov};
  }
};

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
  void update(const CpuLauncher& launcher, const UpdateBlocks& blocks) const override {
    blocks.type == DType::f64 ? run<double>(launcher, blocks) : run<float>(launcher, blocks);
  }

 private:
  template <class T>
  void run(const CpuLauncher& launcher, const UpdateBlocks& blocks) const {
    if (settings_.momentum == 0) {
      run_update<T>(launcher, blocks, PlainRule<T>{}, settings_.time_decay);
      return;
    }
    const MomentumRule<T> rule{settings_.momentum, settings_.form, settings_.nesterov};
    run_update<T>(launcher, blocks, rule, settings_.time_decay);
  }

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
               "keras (caffe, mxnet): the rate enters the velocity; torch: it multiplies it");
  declare_weight_decay(fields, sgd.weight_decay);
  declare_time_decay(fields, sgd.time_decay);
  if (sgd.nesterov && sgd.momentum == 0) {
    fields.error("nesterov",
                 "'nesterov' needs a momentum above 0; give momentum or leave nesterov");
  }
  return std::make_unique<Sgd>(std::move(sgd));
}

}  // namespace trainyard
