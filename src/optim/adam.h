// Adam (Kingma and Ba 2015, algorithm 1) and AMSGrad (Reddi et al. 2018).
//
//   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g g;  t = this step, from 1
//   keras, caffe: w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)   ("epsilon hat")
//   torch:        w -= lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
//   AMSGrad:      the largest v so far in place of v
#pragma once

#include <variant>

#include "base/math.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"

namespace trainyard {

/// Keras's or torch's form of the rules of Adam's family.
enum class AdamForm { keras, torch };

template <bool keeps_largest>
struct AdamRule {
  static constexpr std::size_t kSlots = keeps_largest ? 3 : 2;
  double beta1 = 0, beta2 = 0, epsilon = 0;
  AdamForm form = AdamForm::keras;

  template <class T>
  struct Step {
    T rate, root_scale, epsilon, beta1, beta2, rest1, rest2, decay;
    TY_HD void operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = gradient + decay * e.weight;
      e.state[0] = beta1 * e.state[0] + rest1 * g;
      e.state[1] = beta2 * e.state[1] + rest2 * g * g;
      if constexpr (keeps_largest) e.state[2] = math::max(e.state[2], e.state[1]);
      const T square = e.state[keeps_largest ? 2 : 1];
      e.weight -= rate * e.state[0] / (math::sqrt(square) * root_scale + epsilon);
    }
  };
  template <class T>
  TY_HD Step<T> step(const StepScalars& scalars) const {
    const double left1 = 1.0 - integer_power(beta1, scalars.finished + 1);
    const double root2 = math::sqrt(1.0 - integer_power(beta2, scalars.finished + 1));
    const bool torch = form == AdamForm::torch;
    const double scaled = torch ? scalars.rate / left1 : scalars.rate * root2 / left1;
    return {static_cast<T>(scaled),      static_cast<T>(torch ? 1.0 / root2 : 1.0),
            static_cast<T>(epsilon),     static_cast<T>(beta1),
            static_cast<T>(beta2),       static_cast<T>(1.0 - beta1),
            static_cast<T>(1.0 - beta2), static_cast<T>(scalars.decay)};
  }
};

[[nodiscard]] constexpr config::Words<AdamForm> words(AdamForm) { return {"keras", "torch"}; }

/// The keys that the optimizers of Adam's family share.
struct AdamKeys {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  AdamForm form = AdamForm::keras;

  /// Takes the profile's `epsilon` and form.
  void follow(config::Profile profile) {
    if (profile == config::Profile::torch) form = AdamForm::torch;
    if (profile != config::Profile::keras2) epsilon = 1e-8;
  }
  /// Declares `beta1`, `beta2` and `epsilon`.
  void declare_means(config::Fields& fields) {
    declare_mean_weight(fields, "beta1", beta1, "weight of the old mean");
    declare_mean_weight(fields, "beta2", beta2, "weight of the old mean square");
    declare_epsilon(fields, epsilon);
  }
  template <bool keeps_largest>
  [[nodiscard]] AdamRule<keeps_largest> rule() const {
    return {beta1, beta2, epsilon, form};
  }
};

struct Adam {
  static constexpr std::string_view kName = "adam";
  static constexpr std::string_view kHelp =
      "running mean over running root mean square (Kingma and Ba 2015)";

  static std::variant<AdamRule<false>, AdamRule<true>> read(config::Fields& fields,
                                                            OptimizerSettings& adam) {
    AdamKeys keys;
    bool amsgrad = false;
    adam.rate = 1e-3;
    keys.follow(fields.profile());
    declare_rate(fields, adam);
    keys.declare_means(fields);
    fields.field("form", keys.form,
                 "keras: epsilon added to the uncorrected root; torch: to the corrected one");
    fields.field("amsgrad", amsgrad, "the largest mean square so far in place of the present one");
    declare_decays(fields, adam);
    adam.slots = {{"mean"}, {"square"}};
    if (!amsgrad) return keys.rule<false>();
    adam.slots.push_back({"largest_square"});
    return keys.rule<true>();
  }
};

struct AdamW {
  static constexpr std::string_view kName = "adamw";
  static constexpr std::string_view kHelp =
      "adam with decoupled weight decay (Loshchilov and Hutter 2019)";

  static auto read(config::Fields& fields, OptimizerSettings& adamw) {
    adamw.weight_decay = {.amount = 0.01, .decoupled = true};
    return Adam::read(fields, adamw);
  }
};

}  // namespace trainyard
