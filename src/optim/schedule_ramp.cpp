// Schedules from the base learning rate to an end value over their length: constant, poly, cosine,
// linear.
#include <cmath>
#include <numbers>

#include "optim/kinds.h"
#include "optim/timed_schedule.h"

namespace trainyard {
namespace {

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
class Cosine final : public TimedSchedule {
 public:
  explicit Cosine(config::Fields& fields) {
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

}  // namespace

std::unique_ptr<Schedule> read_linear_ramp(config::Fields& fields) {
  return std::make_unique<LinearRamp>(fields);
}
std::unique_ptr<Schedule> read_constant(config::Fields& fields) {
  return std::make_unique<Constant>(fields);
}
std::unique_ptr<Schedule> read_poly(config::Fields& fields) {
  return std::make_unique<Poly>(fields);
}
std::unique_ptr<Schedule> read_cosine(config::Fields& fields) {
  return std::make_unique<Cosine>(fields);
}

}  // namespace trainyard
