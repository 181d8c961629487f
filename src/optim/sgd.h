// Stochastic gradient descent.
//
//   keras, caffe, mxnet: v = m v + lr (g + decay w);  w -= v
//                        Nesterov: w -= m v + lr (g + decay w)
//   torch:               v = m v + g + decay w;       w -= lr v
//                        Nesterov: w -= lr (g + decay w + m v)
//
// Keras stores -v and adds it; the weights are bit-identical. The forms differ once the learning
// rate changes.
#pragma once

#include <variant>

#include "base/host_device.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

enum class MomentumForm { keras, torch };

/// The rule without momentum: no state.
struct PlainRule {
  static constexpr std::size_t kSlots = 0;

  template <class T>
  struct Step {
    T rate, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      e.weight -= rate * (gradient + decay * e.weight);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.rate), static_cast<T>(scalars.decay)};
  }
};

/// The rules with momentum. The velocity is v; `scale` multiplies the gradient entering it (the
/// learning rate, or 1) and `apply` the velocity applied to the weight (1, or the learning rate).
struct MomentumRule {
  static constexpr std::size_t kSlots = 1;
  double momentum = 0;
  MomentumForm form = MomentumForm::keras;
  bool nesterov = false;

  template <class T>
  struct Step {
    T scale, apply, decay, momentum;
    bool nesterov;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T change = scale * (gradient + decay * e.weight);
      const T velocity = momentum * e.state[0] + change;
      e.weight -= apply * (nesterov ? momentum * velocity + change : velocity);
      e.state[0] = velocity;
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const bool torch = form == MomentumForm::torch;
    return {static_cast<T>(torch ? 1.0 : scalars.rate), static_cast<T>(torch ? scalars.rate : 1.0),
            static_cast<T>(scalars.decay), static_cast<T>(momentum), nesterov};
  }
};

[[nodiscard]] constexpr config::Words<MomentumForm> words(MomentumForm) {
  return {"keras", "torch"};
}

/// Declares `momentum_form`, torch's in its profile.
inline void declare_momentum_form(config::Fields& fields, MomentumForm& form) {
  if (fields.profile() == config::Profile::torch) form = MomentumForm::torch;
  fields.field("momentum_form", form,
               "keras (caffe, mxnet): the learning rate is in the velocity; torch: it multiplies "
               "the velocity");
}

/// Declares `momentum`, `nesterov` and `momentum_form`; Nesterov's without momentum is an error.
inline void declare_momentum(config::Fields& fields, MomentumRule& rule) {
  fields.field("momentum", rule.momentum, "weight of the old velocity",
               {.minimum = 0, .maximum = 1});
  fields.field("nesterov", rule.nesterov, "Nesterov's momentum");
  declare_momentum_form(fields, rule.form);
  if (rule.nesterov && rule.momentum == 0) {
    fields.error("nesterov",
                 "'nesterov' needs a momentum above 0; set momentum or remove nesterov");
  }
}

struct Sgd {
  static constexpr std::string_view kName = "sgd";
  static constexpr std::string_view kHelp = "stochastic gradient descent with momentum";

  static std::variant<PlainRule, MomentumRule> read(config::Fields& fields,
                                                    OptimizerSettings& sgd) {
    MomentumRule rule;
    sgd.rate = 0.01;
    declare_rate(fields, sgd);
    declare_momentum(fields, rule);
    declare_decays(fields, sgd);
    if (rule.momentum == 0) return PlainRule{};
    sgd.slots = {{"momentum"}};
    return rule;
  }
};

}  // namespace trainyard
