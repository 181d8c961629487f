// Schedules with phases of their own: cosine_restarts, one_cycle, wsd.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/timed_schedule.h"

namespace trainyard {

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
constexpr config::Words<DecayShape> words(DecayShape) { return {"linear", "cosine", "sqrt"}; }

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
