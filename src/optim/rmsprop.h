// RMSprop (Tieleman and Hinton 2012, lecture 6.5).
//
//   a = rho a + (1 - rho) g g;  step = g / root(a), with the root of root.h
//   centered (Graves 2013, equation 38): c = rho c + (1 - rho) g;  step = g / root(a - c c)
//   without momentum: w -= lr step
//   with it, in the two forms of sgd.h: keras (mxnet, timm): v = m v + lr step;  w -= v
//                                            torch:               v = m v + step;     w -= lr v
#pragma once

#include <variant>

#include "optim/rule_parts.h"
#include "optim/settings.h"
#include "optim/sgd.h"

namespace trainyard {

template <bool centered, bool with_momentum>
struct RmspropRule {
  static constexpr std::size_t kMean = 1;  // slots: square, mean, momentum
  static constexpr std::size_t kVelocity = centered ? 2 : 1;
  static constexpr std::size_t kSlots = 1 + (centered ? 1 : 0) + (with_momentum ? 1 : 0);
  double rho = 0;
  SafeRoot root;
  double momentum = 0;
  MomentumForm form = MomentumForm::keras;

  template <class T>
  struct Step {
    T scale, apply, decay, rho, rest, momentum;
    RootStep<T> root;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = rho * e.state[0] + rest * g * g;
      T square = e.state[0];
      if constexpr (centered) {
        e.state[kMean] = rho * e.state[kMean] + rest * g;
        square -= e.state[kMean] * e.state[kMean];
      }
      const T change = scale * g / root(square);
      if constexpr (with_momentum) {
        e.state[kVelocity] = momentum * e.state[kVelocity] + change;
        e.weight -= apply * e.state[kVelocity];
      } else {
        e.weight -= change;
      }
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const bool torch = with_momentum && form == MomentumForm::torch;
    return {static_cast<T>(torch ? 1.0 : scalars.rate),
            static_cast<T>(torch ? scalars.rate : 1.0),
            static_cast<T>(scalars.decay),
            static_cast<T>(rho),
            static_cast<T>(1.0 - rho),
            static_cast<T>(momentum),
            root.step<T>()};
  }
};

struct Rmsprop {
  static constexpr std::string_view kName = "rmsprop";
  static constexpr std::string_view kHelp = "gradient over its running root mean square";

  double rho = 0.9;
  SafeRoot root{.epsilon = 1e-7};
  double start = 0;
  bool centered = false;
  double momentum = 0;
  MomentumForm form = MomentumForm::keras;

  void follow(config::Profile profile, OptimizerSettings& rmsprop) {
    rmsprop.rate = profile == config::Profile::torch ? 0.01 : 1e-3;
    if (profile == config::Profile::keras2) return;
    root.epsilon = 1e-8;
    if (profile == config::Profile::mxnet) {
      root.place = EpsilonPlace::inside;
    } else {
      rho = 0.99;
    }
  }
  void declare(config::Fields& fields) {
    declare_mean_weight(fields, "rho", rho, "weight of the old mean square");
    declare_root(fields, root);
    fields.field("start", start, "the mean square before the first step", {.minimum = 0});
    fields.field("centered", centered,
                 "subtract the square of the running mean gradient (Graves 2013)");
    if (centered && fields.profile() == config::Profile::mxnet) momentum = 0.9;
    fields.field("momentum", momentum, "weight of the old velocity", {.minimum = 0, .maximum = 1});
    declare_momentum_form(fields, form);
  }
  template <bool is_centered, bool with_momentum>
  [[nodiscard]] RmspropRule<is_centered, with_momentum> rule() const {
    return {rho, root, momentum, form};
  }

  static std::variant<RmspropRule<false, false>, RmspropRule<false, true>, RmspropRule<true, false>,
                      RmspropRule<true, true>>
  read(config::Fields& fields, OptimizerSettings& rmsprop) {
    Rmsprop keys;
    keys.follow(fields.profile(), rmsprop);
    declare_rate(fields, rmsprop);
    keys.declare(fields);
    declare_decays(fields, rmsprop);
    rmsprop.slots = {{"square", keys.start}};
    if (keys.centered) rmsprop.slots.push_back({"mean"});
    if (keys.momentum != 0) rmsprop.slots.push_back({"momentum"});
    if (keys.centered && keys.momentum != 0) return keys.rule<true, true>();
    if (keys.centered) return keys.rule<true, false>();
    if (keys.momentum != 0) return keys.rule<false, true>();
    return keys.rule<false, false>();
  }
};

}  // namespace trainyard
