// Muon (Jordan et al. 2024), as torch.optim.Muon and as in airbench94_muon.
//
//   torch:    m = g + momentum (m - g);  u = g + momentum (m - g), or m without Nesterov
//   airbench: m = momentum m + g;        u = g + momentum m, or m;  w *= sqrt(rows) / norm(w)
//   both:     w -= lr scale orthogonalized(u), after the decoupled decay
//
// A parameter is the matrix [its first axis, all others]. A scale of airbench is 1; so is Jordan's
// of square windows, since he takes that of a convolution's last two axes.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "optim/newton_schulz.h"
#include "optim/rule_parts.h"
#include "optim/settings.h"
#include "optim/sgd.h"

namespace trainyard {

struct Muon {
  static constexpr std::string_view kName = "muon";
  static constexpr std::string_view kHelp =
      "momentum of matrices with singular values of nearly 1 (Jordan et al. 2024)";
  static constexpr std::size_t kSlots = 1;
  enum class Form { torch, airbench };
  enum class Scale { original, match_rms_adamw, spectral_unclamped, none };

  double momentum = 0.95;
  bool nesterov = true;
  Form form = Form::torch;
  Scale form_of_scale = Scale::original;
  NewtonSchulz iteration;

  /// u, of which the matrices are orthogonalized.
  template <class T>
  struct Direction {
    T decay, momentum, take;  // `take`: how much of the gradient the momentum gets
    bool nesterov;
    TY_HD T operator()(T gradient, Element<T, kSlots>& e) const {
      const T g = take * (gradient + decay * e.weight);
      e.state[0] = momentum * e.state[0] + g;
      return nesterov ? g + momentum * e.state[0] : e.state[0];
    }
  };
  template <class T>
  TY_HD Direction<T> direction(const StepScalars& scalars) const {
    return {static_cast<T>(scalars.decay), static_cast<T>(momentum),
            static_cast<T>(form == Form::torch ? 1 - momentum : 1.0), nesterov};
  }
  /// What weights of this norm are multiplied by before a step; those that are all 0 stay.
  [[nodiscard]] TY_HD double rescaling(double norm, std::int64_t rows) const {
    return form == Form::torch || norm == 0 ? 1 : math::sqrt(static_cast<double>(rows)) / norm;
  }
  template <class T>
  TY_HD PlainRule::Step<T> step(const StepScalars& scalars) const {
    return PlainRule{}.step<T>({.rate = scalars.rate});
  }
  /// What the orthogonalized matrix of a parameter is multiplied by: torch's adjust_lr_fn.
  [[nodiscard]] double scale(std::int64_t rows, std::int64_t columns) const {
    const auto r = static_cast<double>(rows), c = static_cast<double>(columns);
    if (form_of_scale == Scale::original) return std::sqrt(std::max(1.0, r / c));
    if (form_of_scale == Scale::match_rms_adamw) return 0.2 * std::sqrt(std::max(r, c));
    return form_of_scale == Scale::spectral_unclamped ? std::sqrt(r / c) : 1;
  }
  static Muon read(config::Fields& fields, OptimizerSettings& muon);
};

[[nodiscard]] constexpr config::Words<Muon::Form> words(Muon::Form) {
  return {"torch", "airbench"};
}
[[nodiscard]] constexpr config::Words<Muon::Scale> words(Muon::Scale) {
  return {"original", "match_rms_adamw", "spectral_unclamped", "none"};
}

inline Muon Muon::read(config::Fields& fields, OptimizerSettings& muon) {
  Muon rule;
  muon.rate = 1e-3;
  muon.weight_decay = {.amount = 0.1, .decoupled = true};
  declare_rate(fields, muon);
  fields.field("form", rule.form,
               "torch; airbench: weights are scaled to a norm of sqrt(rows) before each step, the "
               "momentum is a sum");
  if (rule.form == Form::airbench) {
    rule.form_of_scale = Scale::none;
    rule.iteration.iterations = 3;
    rule.iteration.adds_epsilon = true;
    muon.weight_decay.amount = 0;
  }
  declare_mean_weight(fields, "momentum", rule.momentum, "weight of the old momentum");
  fields.field("nesterov", rule.nesterov, "Nesterov's momentum");
  fields.field("steps", rule.iteration.iterations, "Newton-Schulz iterations",
               {.minimum = 1, .maximum = 99});
  NewtonSchulz& of = rule.iteration;
  std::vector<double> coefficients{of.a, of.b, of.c};
  fields.field("coefficients", coefficients, "a, b, c of an iteration, (a + b A + c A A) X");
  if (const std::size_t count = coefficients.size(); count != 3) {
    fields.error("coefficients",
                 "'coefficients' must be three numbers, as in [2, -1.5, 0.5], found " +
                     std::to_string(count));
    coefficients.resize(3);
  }
  of.a = coefficients[0], of.b = coefficients[1], of.c = coefficients[2];
  fields.field("scale", rule.form_of_scale,
               "of a step on [rows, columns]: sqrt(max(1, rows/columns)), 0.2 sqrt(max(rows, "
               "columns)), sqrt(rows/columns), or 1");
  declare_decays(fields, muon);
  muon.slots = {{"momentum"}};
  return rule;
}

}  // namespace trainyard
