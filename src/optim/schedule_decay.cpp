// Schedules that multiply the base learning rate by a falling factor, with Caffe's names: step,
// multistep, exponential, inverse, sigmoid; and the inverse square root.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "optim/kinds.h"
#include "optim/timed_schedule.h"

namespace trainyard {
namespace {

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

class Sigmoid final : public TimedSchedule {
 public:
  explicit Sigmoid(config::Fields& fields) {
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

}  // namespace

std::unique_ptr<Schedule> read_sigmoid(config::Fields& fields) {
  return std::make_unique<Sigmoid>(fields);
}
std::unique_ptr<Schedule> read_inverse_sqrt(config::Fields& fields) {
  return std::make_unique<InverseSqrt>(fields);
}
std::unique_ptr<Schedule> read_step(config::Fields& fields) {
  return std::make_unique<Step>(fields);
}
std::unique_ptr<Schedule> read_multistep(config::Fields& fields) {
  return std::make_unique<Multistep>(fields);
}
std::unique_ptr<Schedule> read_exponential(config::Fields& fields) {
  return std::make_unique<Exponential>(fields);
}
std::unique_ptr<Schedule> read_inverse(config::Fields& fields) {
  return std::make_unique<Inverse>(fields);
}

}  // namespace trainyard
