// Adagrad (Duchi, Hazan and Singer 2011).
//
//   a = a + g g;  w -= lr g / root(a), with the root of root.h
#pragma once

#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

struct Adagrad {
  static constexpr std::string_view kName = "adagrad";
  static constexpr std::string_view kHelp =
      "gradient over the root of its summed squares (Duchi et al. 2011)";
  static constexpr std::size_t kSlots = 1;
  SafeRoot root;

  template <class T>
  struct Step {
    T rate, decay;
    RootStep<T> root;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] += g * g;
      e.weight -= rate * g / root(e.state[0]);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.rate), static_cast<T>(scalars.decay), root.step<T>()};
  }
  static Adagrad read(config::Fields& fields, OptimizerSettings& adagrad) {
    Adagrad rule{.root = {.epsilon = 1e-7}};
    OptimizerSlot squares{"square_sum"};
    adagrad.rate = 0.01;
    if (fields.profile() == config::Profile::torch) rule.root.epsilon = 1e-10;
    if (fields.profile() == config::Profile::caffe) rule.root.epsilon = 1e-8;
    if (fields.profile() == config::Profile::mxnet) {
      rule.root.place = EpsilonPlace::inside;
      adagrad.weight_decay.decoupled = true;
    }
    declare_rate(fields, adagrad);
    declare_root(fields, rule.root);
    fields.field("start", squares.start, "the sum of squares before the first step",
                 {.minimum = 0});
    declare_decays(fields, adagrad);
    adagrad.slots = {squares};
    return rule;
  }
};

}  // namespace trainyard
