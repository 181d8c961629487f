// What losses compute in a row: a value, and its gradient for each output.
//
// A loss has kName, as in loss_list(), whether it has label_smoothing, and
//   T value(const Team&, const LossRow<S>&) const;
//   void gradient(const Team&, const LossRow<S>&, T scale, S* dx) const;  // scale times the
//   gradient
// Means over outputs are per-element structs in MeanLoss: value(x, t) and slope(x, t), the
// derivative to x. kCentre is the weight of the constant that label smoothing mixes in.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "base/half.h"
#include "base/math.h"
#include "ops/activation.h"

namespace trainyard {

/// One row of values, stored as S, with its target: a class, two classes with shares, or a number
/// per output.
template <class S>
struct LossRow {
  using T = Arithmetic<S>;
  const S* x;  // [classes]
  std::int64_t classes;
  T smoothing;
  const float* dense = nullptr;  // [classes] targets; null: classes
  std::int64_t label = 0;
  std::int64_t second = -1;  // another class, whose part of the target is `share`; -1: none
  T share = 0;

  [[nodiscard]] TY_HD T value(std::int64_t c) const { return static_cast<T>(x[c]); }
  [[nodiscard]] TY_HD bool is_class(std::int64_t given) const {
    return given >= 0 && given < (classes == 1 ? 2 : classes);
  }
  /// False if a label is not a class.
  [[nodiscard]] TY_HD bool has_target() const {
    return dense != nullptr || (is_class(label) && (second < 0 || is_class(second)));
  }
  /// Whether the target is a single class.
  [[nodiscard]] TY_HD bool one_class() const { return dense == nullptr && second < 0; }
  /// 1 or 0 for a class, before smoothing.
  [[nodiscard]] TY_HD T of_class(std::int64_t given, std::int64_t c) const {
    return classes == 1 ? static_cast<T>(given) : static_cast<T>(c == given);
  }
  /// The target of output c, before smoothing.
  [[nodiscard]] TY_HD T target(std::int64_t c) const {
    if (dense != nullptr) return static_cast<T>(dense[c]);
    const T first = of_class(label, c);
    return second < 0 ? first : (T(1) - share) * first + share * of_class(second, c);
  }
};

/// -sum of t_c log p_c with p = softmax(x) and t = (1 - s) * one-hot + s / classes (Szegedy et al.
/// 2016, equation 9), or t = (1 - s) * target + s / classes. Gradient: p * sum of t - t.
struct CrossEntropy {
  static constexpr std::string_view kName = "cross_entropy";
  static constexpr bool kSmooths = true;

  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T top(const Team& team, const LossRow<S>& row) {
    return team.template max<T>(row.classes, -math::kInfinity<T>,
                                [&](std::int64_t c) { return row.value(c); });
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T sum_of_exp(const Team& team, const LossRow<S>& row, Arithmetic<S> top) {
    return team.template sum<T>(row.classes,
                                [&](std::int64_t c) { return math::exp(row.value(c) - top); });
  }
  template <class S, class T = Arithmetic<S>>
  TY_HD static T smoothed(const LossRow<S>& row, std::int64_t c) {
    return (T(1) - row.smoothing) * row.target(c) + row.smoothing / T(row.classes);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T most = top(team, row);
    const T log_sum = math::log(sum_of_exp(team, row, most));
    // -log p_c = log_sum - (x_c - most), a sum of two non-negative terms.
    if (!row.one_class()) {
      return team.template sum<T>(row.classes, [&](std::int64_t c) {
        return smoothed(row, c) * (log_sum - (row.value(c) - most));
      });
    }
    const T of_label = log_sum - (row.value(row.label) - most);
    if (!(row.smoothing > 0)) return of_label;
    const T all = team.template sum<T>(
        row.classes, [&](std::int64_t c) { return log_sum - (row.value(c) - most); });
    return (T(1) - row.smoothing) * of_label + row.smoothing * (all / T(row.classes));
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T most = top(team, row);
    const T sum = sum_of_exp(team, row, most);
    T total = T(1);  // sum of the targets
    if (!row.one_class()) {
      total = team.template sum<T>(row.classes, [&](std::int64_t c) { return smoothed(row, c); });
    }
    team.each(row.classes, [&](std::int64_t c) {
      dx[c] =
          static_cast<S>((math::exp(row.value(c) - most) / sum * total - smoothed(row, c)) * scale);
    });
  }
};

/// The mean over outputs of F::value(x, t). Gradient: F::slope(x, t) / classes.
template <class F>
struct MeanLoss {
  static constexpr std::string_view kName = F::kName;
  static constexpr bool kSmooths = F::kSmooths;

  /// With smoothing (1 - s) * target + s / 2 (Keras).
  template <class S, class T = Arithmetic<S>>
  TY_HD static T target(const LossRow<S>& row, std::int64_t c) {
    if constexpr (!kSmooths) return row.target(c);
    return (T(1) - row.smoothing) * row.target(c) + T(0.5) * row.smoothing;
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T sum = team.template sum<T>(
        row.classes, [&](std::int64_t c) { return F::value(row.value(c), target(row, c)); });
    return sum / T(row.classes);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T factor = scale / T(row.classes);
    team.each(row.classes, [&](std::int64_t c) {
      dx[c] = static_cast<S>(F::slope(row.value(c), target(row, c)) * factor);
    });
  }
};

/// max(x, 0) - x t + log(1 + e^-|x|), which is -t log p - (1 - t) log(1 - p) with p = sigmoid(x).
/// Slope: p - t.
struct BinaryCrossEntropyOfOne {
  static constexpr std::string_view kName = "binary_cross_entropy";
  static constexpr bool kSmooths = true;
  template <class T>
  TY_HD static T value(T x, T t) {
    // softplus(x) - x t; where x > 0, x - x t = x (1 - t) without cancellation.
    const T linear = x > 0 ? x * (T(1) - t) : -x * t;
    return linear + math::log1p(math::exp(-math::abs(x)));
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    return Sigmoid{}.value(x) - t;
  }
};

/// (x - t)^2.
struct SquaredError {
  static constexpr std::string_view kName = "mse";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    return (x - t) * (x - t);
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    return T(2) * (x - t);
  }
};

/// |x - t|; slope 0 at x = t.
struct AbsoluteError {
  static constexpr std::string_view kName = "mae";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    return math::abs(x - t);
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    const T d = x - t;
    return d > 0 ? T(1) : d < 0 ? T(-1) : d;  // NaN stays NaN
  }
};

/// d^2 / 2 for |d| <= 1, else |d| - 1/2, with d = x - t (Huber 1964, with a delta of 1).
struct HuberError {
  static constexpr std::string_view kName = "huber";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    const T d = math::abs(x - t);
    return d <= 1 ? T(0.5) * d * d : d - T(0.5);
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    const T d = x - t;
    return d > 1 ? T(1) : d < -1 ? T(-1) : d;
  }
};

/// log(cosh(x - t)): below 1 log1p(cosh d - 1), which keeps its digits near 0, with cosh d - 1 =
/// (e^|d| - 1)^2 / (2 e^|d|); from 1 on |d| + log1p(e^-2|d|) - log 2. Slope: tanh d.
struct LogCosh {
  static constexpr std::string_view kName = "logcosh";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    const T d = math::abs(x - t);
    if (d < 1) {
      const T above_one = math::expm1(d);
      return math::log1p(above_one * above_one / (T(2) + T(2) * above_one));
    }
    return d + math::log1p(math::exp(T(-2) * d)) - T(0.6931471805599453);
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    return Tanh{}.value(x - t);
  }
};

/// max(1 - s x, 0), where s is the target 0 or 1 as -1 or 1.
struct HingeOfOne {
  static constexpr std::string_view kName = "hinge";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    const T margin = T(1) - (T(2) * t - T(1)) * x;
    return margin < 0 ? T(0) : margin;
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    const T sign = T(2) * t - T(1);
    return T(1) - sign * x > 0 ? -sign : T(0);
  }
};

/// The square of hinge.
struct SquaredHingeOfOne {
  static constexpr std::string_view kName = "squared_hinge";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    const T hinge = HingeOfOne::value(x, t);
    return hinge * hinge;
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    return T(2) * HingeOfOne::value(x, t) * HingeOfOne::slope(x, t);
  }
};

/// x - t log(x + 1e-7), for outputs x >= 0 (Keras).
struct PoissonOfOne {
  static constexpr std::string_view kName = "poisson";
  static constexpr bool kSmooths = false;
  template <class T>
  TY_HD static T value(T x, T t) {
    return x - t * math::log(x + T(1e-7));
  }
  template <class T>
  TY_HD static T slope(T x, T t) {
    return T(1) - t / (x + T(1e-7));
  }
};

/// Sum of t log(t / x), for outputs x that are probabilities, both clipped to [1e-7, 1] (Keras).
/// Gradient: -t / x, 0 where x is clipped.
struct KullbackLeibler {
  static constexpr std::string_view kName = "kl";
  static constexpr bool kSmooths = false;

  template <class T>
  TY_HD static T clipped(T value) {
    return value < T(1e-7) ? T(1e-7) : value > 1 ? T(1) : value;
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    return team.template sum<T>(row.classes, [&](std::int64_t c) {
      const T t = clipped(row.target(c));
      return t * (math::log(t) - math::log(clipped(row.value(c))));
    });
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    team.each(row.classes, [&](std::int64_t c) {
      const T x = row.value(c);
      const bool is_clipped = x < T(1e-7) || x > 1;
      dx[c] = static_cast<S>(is_clipped ? T(0) : -clipped(row.target(c)) / x * scale);
    });
  }
};

/// -cos of the angle between x and t (Keras 2's cosine_proximity, summed over outputs). Gradient:
/// -(t - x (x.t) / |x|^2) / (|x| |t|). Squares below 1e-12 count as that, as in Keras's
/// l2_normalize: the loss of a row of zeros is 0.
struct Cosine {
  static constexpr std::string_view kName = "cosine";
  static constexpr bool kSmooths = false;

  static constexpr double kLeastSquare = 1e-12;

  /// The norms are those that x and t are divided by.
  template <class T>
  struct Products {
    T xt, xx, norm_x, norm_t;
  };
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static Products<T> products(const Team& team, const LossRow<S>& row) {
    const auto sum = [&](const auto& product) {
      return team.template sum<T>(row.classes, product);
    };
    const auto norm = [](T square) {
      return math::sqrt(square < T(kLeastSquare) ? T(kLeastSquare) : square);
    };
    const T xt = sum([&](std::int64_t c) { return row.value(c) * row.target(c); });
    const T xx = sum([&](std::int64_t c) { return row.value(c) * row.value(c); });
    const T tt = sum([&](std::int64_t c) { return row.target(c) * row.target(c); });
    return {xt, xx, norm(xx), norm(tt)};
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const Products<T> of = products(team, row);
    return -of.xt / (of.norm_x * of.norm_t);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const Products<T> of = products(team, row);
    // A norm that does not depend on x takes nothing from the gradient.
    const T along = of.xx < T(kLeastSquare) ? T(0) : of.xt / of.xx;
    const T factor = -scale / (of.norm_x * of.norm_t);
    team.each(row.classes, [&](std::int64_t c) {
      dx[c] = static_cast<S>((row.target(c) - row.value(c) * along) * factor);
    });
  }
};

/// max(0, 1 + largest (1 - t) x - sum of t x) (Keras). Gradient: 1 - t at the first of the largest,
/// minus t everywhere, where the loss is above 0.
struct CategoricalHinge {
  static constexpr std::string_view kName = "categorical_hinge";
  static constexpr bool kSmooths = false;

  template <class S, class T = Arithmetic<S>>
  TY_HD static T other(const LossRow<S>& row, std::int64_t c) {
    return (T(1) - row.target(c)) * row.value(c);
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T best_other(const Team& team, const LossRow<S>& row) {
    return team.template max<T>(row.classes, -math::kInfinity<T>,
                                [&](std::int64_t c) { return other(row, c); });
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD static T margin(const Team& team, const LossRow<S>& row, Arithmetic<S> best) {
    const T own = team.template sum<T>(
        row.classes, [&](std::int64_t c) { return row.target(c) * row.value(c); });
    return T(1) + best - own;
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD T value(const Team& team, const LossRow<S>& row) const {
    const T loss = margin(team, row, best_other(team, row));
    return loss < 0 ? T(0) : loss;
  }
  template <class S, class Team, class T = Arithmetic<S>>
  TY_HD void gradient(const Team& team, const LossRow<S>& row, Arithmetic<S> scale, S* dx) const {
    const T best = best_other(team, row);
    const bool active = margin(team, row, best) > 0;
    const std::int64_t first = -team.template max<std::int64_t>(
        row.classes, -row.classes,
        [&](std::int64_t c) { return other(row, c) == best ? -c : -row.classes; });
    team.each(row.classes, [&](std::int64_t c) {
      const T slope = (c == first ? T(1) - row.target(c) : T(0)) - row.target(c);
      dx[c] = static_cast<S>(active ? slope * scale : T(0));
    });
  }
};

using BinaryCrossEntropy = MeanLoss<BinaryCrossEntropyOfOne>;
using MeanSquaredError = MeanLoss<SquaredError>;

/// Every loss, in the order of the reference.
using LossFunctions = std::tuple<CrossEntropy, BinaryCrossEntropy, MeanSquaredError,
                                 MeanLoss<AbsoluteError>, MeanLoss<HuberError>, MeanLoss<LogCosh>,
                                 MeanLoss<HingeOfOne>, MeanLoss<SquaredHingeOfOne>,
                                 CategoricalHinge, KullbackLeibler, MeanLoss<PoissonOfOne>, Cosine>;

}  // namespace trainyard
