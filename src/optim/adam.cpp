// Adam (Kingma and Ba 2015, algorithm 1).
//
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g;  t = this update, from 1
//   keras, caffe: w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)   ("epsilon hat")
//   torch:        w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
#include <cmath>

#include "optim/kinds.h"
#include "optim/settings.h"
#include "optim/update.h"

namespace trainyard {
namespace {

enum class AdamForm { keras, torch };

[[maybe_unused]] std::span<const config::Word<AdamForm>> words(AdamForm) {
  static constexpr config::Word<AdamForm> kWords[] = {{AdamForm::keras, "keras"},
                                                      {AdamForm::torch, "torch"}};
  return kWords;
}

/// base^exponent by squaring: a fixed sequence of products, so every device gives the same bits.
/// The relative error is below exponent * 2^-52, of a value that has long vanished where that
/// matters.
TY_HD double integer_power(double base, std::int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

template <class T>
struct AdamRule {
  static constexpr std::size_t kSlots = 2;
  double beta1, beta2, epsilon;
  AdamForm form;

  struct Step {
    T rate, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T g = gradient + decay * e.weight;
      e.first = beta1 * e.first + rest1 * g;
      e.second = beta2 * e.second + rest2 * g * g;
      e.weight -= rate * e.first / (std::sqrt(e.second) * root_scale + epsilon);
    }
  };
  TY_HD Step step(double rate, double decay, std::int64_t finished) const {
    const double left1 = 1.0 - integer_power(beta1, finished + 1);
    const double root2 = std::sqrt(1.0 - integer_power(beta2, finished + 1));
    const bool torch = form == AdamForm::torch;
    const double scaled = torch ? rate / left1 : rate * root2 / left1;
    return {static_cast<T>(scaled),      static_cast<T>(torch ? 1.0 / root2 : 1.0),
            static_cast<T>(epsilon),     static_cast<T>(beta1),
            static_cast<T>(beta2),       static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2), static_cast<T>(decay)};
  }
};

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
  void update(const CpuLauncher& launcher, const UpdateBlocks& blocks) const override {
    blocks.type == DType::f64 ? run<double>(launcher, blocks) : run<float>(launcher, blocks);
  }

 private:
  template <class T>
  void run(const CpuLauncher& launcher, const UpdateBlocks& blocks) const {
    const AdamRule<T> rule{settings_.beta1, settings_.beta2, settings_.epsilon, settings_.form};
    run_update<T>(launcher, blocks, rule, settings_.time_decay);
  }

  AdamSettings settings_;
};

}  // namespace

std::unique_ptr<Optimizer> read_adam(config::Fields& fields) {
  AdamSettings adam;
  if (fields.profile() == config::Profile::torch) {
    adam.form = AdamForm::torch;
    adam.epsilon = 1e-8;
  }
  fields.field("lr", adam.lr, "learning rate; the schedule starts from it", {.minimum = 0});
  fields.field("beta1", adam.beta1, "weight of the old mean", {.minimum = 0, .maximum = 0.999999});
  fields.field("beta2", adam.beta2, "weight of the old mean square",
               {.minimum = 0, .maximum = 0.999999});
  fields.field("epsilon", adam.epsilon, "added to the root",
               {.minimum = 0, .exclusive_minimum = true});
  fields.field("form", adam.form, "keras: epsilon beside the uncorrected root; torch: corrected");
  declare_weight_decay(fields, adam.weight_decay);
  declare_time_decay(fields, adam.time_decay);
  return std::make_unique<Adam>(std::move(adam));
}

}  // namespace trainyard
