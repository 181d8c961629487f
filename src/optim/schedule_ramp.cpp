// Schedules from the base learning rate to an end value over the whole run: constant, poly, cosine.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

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

/// The end of a ramp; progress is t / length, at most 1.
struct Ramp {
  double end = 0;
  std::optional<std::int64_t> length;

  void declare_keys(config::Fields& fields) {
    fields.field("end", end, "final learning rate", {.minimum = 0});
    fields.field("length", length, "T, in units of `by`; default: the whole run", {.minimum = 1});
  }
  [[nodiscard]] double part(double t, double total) const {
    return std::min(1.0, t / (length ? static_cast<double>(*length) : total));
  }
};

/// Caffe's poly, with an end other than 0.
class Poly final : public TimedSchedule {
 public:
  explicit Poly(config::Fields& fields) {
    fields.field("power", power_, "exponent", {.minimum = 0});
    ramp_.declare_keys(fields);
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "poly"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    return (base - ramp_.end) * std::pow(1.0 - ramp_.part(t, total), power_) + ramp_.end;
  }
  double power_ = 1;
  Ramp ramp_;
};

/// Loshchilov and Hutter 2017, equation 5, without restarts.
class Cosine final : public TimedSchedule {
 public:
  explicit Cosine(config::Fields& fields) {
    ramp_.declare_keys(fields);
    declare_time(fields);
  }
  [[nodiscard]] std::string_view name() const override { return "cosine"; }

 private:
  [[nodiscard]] double at(double t, double total, double base) const override {
    const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * ramp_.part(t, total)));
    return ramp_.end + (base - ramp_.end) * wave;
  }
  Ramp ramp_;
};

}  // namespace

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
