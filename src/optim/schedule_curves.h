// Schedules that are a function of t: curves, with Caffe's names for those of a falling factor; and
// phases: cosine_restarts, one_cycle, wsd.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "optim/schedule.h"

namespace trainyard {

class Constant final : public TimedSchedule {
 public:
  explicit Constant(config::Fields& fields) { declare_time(fields); }
  [[nodiscard]] std::string_view name() const override { return "constant"; }

 private:
  [[nodiscard]] double at(double, double, double base) const override { return base; }
};

/// Caffe's poly, with an end other than 0.
class Poly final : public TimedSchedule {
 public:
  explicit Poly(config::Fields& fields) {
    fields.field("power", power_, "exponent", {.minimum = 0});
    fields.field("end", end_, "final learning rate", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "poly"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    return (base - end_) * std::pow(1.0 - t / total, power_) + end_;
  }
  double power_ = 1;
  double end_ = 0;
};

/// Loshchilov and Hutter 2017, equation 5, without restarts.
class CosineDecay final : public TimedSchedule {
 public:
  explicit CosineDecay(config::Fields& fields) {
    fields.field("end", end_, "final learning rate", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "cosine"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * t / total));
    return end_ + (base - end_) * wave;
  }
  double end_ = 0;
};

/// torch's LinearLR: factors of the base learning rate.
class LinearRamp final : public TimedSchedule {
 public:
  explicit LinearRamp(config::Fields& fields) {
    fields.field("from", from_, "factor of the learning rate at the start", {.minimum = 0});
    fields.field("to", to_, "factor of the learning rate at the end", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "linear"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    return base * (from_ + (to_ - from_) * t / total);
  }
  double from_ = 1;
  double to_ = 0;
};

class Step final : public TimedSchedule {
 public:
  explicit Step(config::Fields& fields) {
    fields.required("every", every_, "epochs or steps between two drops", {.minimum = 1});
    fields.field("gamma", gamma_, "factor of a drop", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "step"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    return base * std::pow(gamma_, std::floor(t / static_cast<double>(every_)));
  }
  std::int64_t every_ = 1;
  double gamma_ = 0.1;
};

class Multistep final : public TimedSchedule {
 public:
  explicit Multistep(config::Fields& fields) {
    fields.rest("at", boundaries_, "boundaries; each applies once t reaches it", {.minimum = 0});
    fields.field("gamma", gamma_, "factor of a drop", {.minimum = 0});
    declare_time(fields);
    if (!fields.given("at")) fields.error("", "'multistep' needs boundaries, as in [80, 120]");
    if (std::adjacent_find(boundaries_.begin(), boundaries_.end(), std::greater_equal<>{}) !=
        boundaries_.end()) {
      fields.error("at", "'at' must hold rising boundaries");
    }
  }
  [[nodiscard]] std::string_view name() const override { return "multistep"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    const auto passed = std::count_if(boundaries_.begin(), boundaries_.end(),
                                      [&](std::int64_t b) { return t >= static_cast<double>(b); });
    return base * std::pow(gamma_, static_cast<double>(passed));
  }
  [[nodiscard]] double last_boundary() const override {
    return boundaries_.empty() ? 0 : static_cast<double>(boundaries_.back());
  }
  std::vector<std::int64_t> boundaries_;
  double gamma_ = 0.1;
};

class Exponential final : public TimedSchedule {
 public:
  explicit Exponential(config::Fields& fields) {
    fields.required("gamma", gamma_, "factor per epoch or step", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "exponential"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    return base * std::pow(gamma_, t);
  }
  double gamma_ = 1;
};

class Inverse final : public TimedSchedule {
 public:
  explicit Inverse(config::Fields& fields) {
    fields.required("gamma", gamma_, "growth of the divisor", {.minimum = 0});
    fields.field("power", power_, "exponent", {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "inverse"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    return base * std::pow(1.0 + gamma_ * t, -power_);
  }
  double gamma_ = 0;
  double power_ = 1;
};

class SigmoidDecay final : public TimedSchedule {
 public:
  explicit SigmoidDecay(config::Fields& fields) {
    fields.required("gamma", gamma_, "steepness; negative to fall");
    fields.required("center", center_, "t at half the base learning rate (Caffe's stepsize)",
                    {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "sigmoid"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    return base / (1.0 + std::exp(-gamma_ * (t - static_cast<double>(center_))));
  }
  double gamma_ = 0;
  std::int64_t center_ = 0;
};

/// Vaswani et al. 2017, section 5.3, scaled so that the base is reached at t = flat and before;
/// with a linear warm-up of that length it is the schedule of their equation 3.
class InverseSqrt final : public TimedSchedule {
 public:
  explicit InverseSqrt(config::Fields& fields) {
    fields.required("flat", flat_, "epochs or steps at the base learning rate before the fall",
                    {.minimum = 1});
    declare_time(fields, TimeUnit::step);
  }
  [[nodiscard]] std::string_view name() const override { return "inverse_sqrt"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    const auto flat = static_cast<double>(flat_);
    return base * std::sqrt(flat / std::max(t, flat));
  }
  std::int64_t flat_ = 1;
};

/// A table of learning rates: `piecewise: [[0, 1e-3], [81, 1e-4]]`.
class Piecewise final : public TimedSchedule {
 public:
  explicit Piecewise(config::Fields& fields) {
    fields.rest("table", rows_,
                "rows [t, lr] with rising t; before the first t, the optimizer's learning rate",
                {.minimum = 0});
    declare_time(fields);
    check(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "piecewise"; }

 private:
  void check(config::Fields& fields) const {
    if (!fields.given("table")) {
      fields.error("", "'piecewise' needs rows [t, lr], as in [[0, 1e-3], [81, 1e-4]]");
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].size() == 2 && (i == 0 || rows_[i][0] > rows_[i - 1][0])) continue;
      fields.error("table", "'table' must hold rows [t, lr] with rising t; row " +
                                std::to_string(i + 1) + " is not one");
      return;
    }
  }

  [[nodiscard]] double at(double t, double, double base) const override {
    double rate = base;
    for (const std::vector<double>& row : rows_) {
      if (t >= row[0]) rate = row[1];
    }
    return rate;
  }

  [[nodiscard]] double last_boundary() const override {
    return rows_.empty() ? 0 : rows_.back()[0];
  }

  std::vector<std::vector<double>> rows_;
};

/// From `from` to `to` along half a cosine; part in [0, 1].
inline double cosine_between(double from, double to, double part) {
  return to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * part));
}

/// Loshchilov and Hutter 2017 (SGDR), equation 5, as torch's CosineAnnealingWarmRestarts; `decay`
/// of the peaks as timm's cycle_decay.
class CosineRestarts final : public TimedSchedule {
 public:
  explicit CosineRestarts(config::Fields& fields) {
    fields.required("period", period_, "length of the first cycle", {.minimum = 1});
    fields.field("growth", growth_, "factor of the length from cycle to cycle", {.minimum = 1});
    fields.field("end", end_, "learning rate at the end of a cycle", {.minimum = 0});
    fields.field("decay", decay_, "factor of the learning rate from cycle to cycle",
                 {.minimum = 0});
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "cosine_restarts"; }

 private:
  [[nodiscard]] double at(double t, double, double base) const override {
    auto period = static_cast<double>(period_);
    double peak = base;
    while (t >= period) {
      t -= period;
      period *= static_cast<double>(growth_);
      peak *= decay_;
    }
    return cosine_between(peak, end_, t / period);
  }
  std::int64_t period_ = 1;
  std::int64_t growth_ = 1;
  double end_ = 0;
  double decay_ = 1;
};

/// Smith and Topin 2018 as torch's OneCycleLR with two phases: from base / start_divisor up to the
/// base, then down to base / (start_divisor * end_divisor), which the last t < T reaches. Only the
/// learning rate: torch also cycles the momentum.
class OneCycle final : public TimedSchedule {
 public:
  explicit OneCycle(config::Fields& fields) {
    fields.field("rise", rise_, "part of the length in which the learning rate rises",
                 {.minimum = 0, .maximum = 1});
    fields.field("start_divisor", start_divisor_, "base / learning rate at the start",
                 {.minimum = 1});
    fields.field("end_divisor", end_divisor_, "learning rate at the start / that at the end",
                 {.minimum = 1});
    declare_time(fields, TimeUnit::step);
  }
  [[nodiscard]] std::string_view name() const override { return "one_cycle"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    const double start = base / start_divisor_;
    const double peak = rise_ * total - 1.0;
    if (t < peak) return cosine_between(start, base, t / peak);
    const double fall = total - 1.0 - peak;
    const double part = fall > 0 ? std::min(1.0, (t - peak) / fall) : 1.0;
    return cosine_between(base, start / end_divisor_, part);
  }
  double rise_ = 0.3;
  double start_divisor_ = 25;
  double end_divisor_ = 1e4;
};

/// The shape of a final decay.
enum class DecayShape { linear, cosine, sqrt };
[[nodiscard]] constexpr config::Words<DecayShape> words(DecayShape) {
  return {"linear", "cosine", "sqrt"};
}

/// Warm-up, stable, decay (Hu et al. 2024, section 4); the shapes of Hägele et al. 2024.
class StableThenDecay final : public TimedSchedule {
 public:
  explicit StableThenDecay(config::Fields& fields) {
    fields.field("decay", decay_, "part of the length in which the learning rate falls",
                 {.minimum = 0, .maximum = 1});
    fields.field("end", end_, "final learning rate", {.minimum = 0});
    fields.field("shape", shape_, "how it falls; sqrt: as 1 - sqrt(x)");
    declare_time(fields, TimeUnit::step);
  }
  [[nodiscard]] std::string_view name() const override { return "wsd"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    const double stable = (1.0 - decay_) * total;
    if (t <= stable) return base;
    const double part = (t - stable) / (total - stable);
    switch (shape_) {
      case DecayShape::linear:
        return base + (end_ - base) * part;
      case DecayShape::cosine:
        return cosine_between(base, end_, part);
      case DecayShape::sqrt:
        return base + (end_ - base) * std::sqrt(part);
    }
    return base;
  }
  double decay_ = 0.1;
  double end_ = 0;
  DecayShape shape_ = DecayShape::linear;
};

}  // namespace trainyard
