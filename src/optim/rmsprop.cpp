// RMSprop (Tieleman and Hinton 2012, lecture 6.5), epsilon outside the root as Keras and torch have
// it:  a = rho a + (1 - rho) g g;  w -= lr g / (sqrt(a) + eps)
#include <cmath>

#include "optim/kinds.h"
#include "optim/settings.h"
#include "optim/update.h"

namespace trainyard {
namespace {

template <class T>
struct RmspropRule {
  static constexpr std::size_t kSlots = 1;
  double rho, epsilon;

  struct Step {
    T rate, decay, rho, rest, epsilon;
    TY_HD void operator()(T gradient, Element<T>& e) const {
      const T g = gradient + decay * e.weight;
      e.first = rho * e.first + rest * g * g;
      e.weight -= rate * g / (std::sqrt(e.first) + epsilon);
    }
  };
  TY_HD Step step(double rate, double decay, std::int64_t) const {
    return {static_cast<T>(rate), static_cast<T>(decay), static_cast<T>(rho),
            static_cast<T>(1.0 - rho), static_cast<T>(epsilon)};
  }
};

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
  void update(const CpuLauncher& launcher, const UpdateBlocks& blocks) const override {
    blocks.type == DType::f64 ? run<double>(launcher, blocks) : run<float>(launcher, blocks);
  }

 private:
  template <class T>
  void run(const CpuLauncher& launcher, const UpdateBlocks& blocks) const {
    const RmspropRule<T> rule{settings_.rho, settings_.epsilon};
    run_update<T>(launcher, blocks, rule, settings_.time_decay);
  }

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
