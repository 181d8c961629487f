// Schedules against PyTorch's, Caffe's, timm's and Darknet's, and plateaus against Keras's
// (scripts/make_optimizer_goldens.py).
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "optim/schedule.h"
#include "read.h"

namespace trainyard {
namespace {

config::Node goldens_of(const char* family) {
  return *config::load_yaml(std::string(TY_SOURCE_DIR) + "/tests/optim/optimizers.yaml")
              .find(family);
}

/// A value and its golden, both from a handful of roundings of numbers below 1.
bool equal(double value, double golden) { return std::abs(value - golden) <= 1e-14; }

void check_schedule(const config::Node& golden) {
  config::Diagnostics diagnostics;
  config::Fields fields(golden, nullptr, "", config::Profile::keras2, diagnostics);
  std::unique_ptr<Schedule> rule;
  fields.one_of("schedule", rule, "what is tested", schedule_kinds());
  diagnostics.raise();
  const auto& rates = golden.find("rates")->items;
  const auto epochs = static_cast<std::int64_t>(rates.size());
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    CAPTURE(epoch);
    const double expected = rates[static_cast<std::size_t>(epoch)].real;
    CHECK(equal(rule->rate(epoch, {golden.find("base")->real, epochs, 1}), expected));
  }
}

TEST_CASE("every schedule follows the framework whose formula it has, epoch by epoch") {
  const config::Node cases = goldens_of("schedules");
  REQUIRE(cases.items.size() >= 10);
  for (const config::Node& golden : cases.items) {
    CAPTURE(golden.find("case")->text);
    check_schedule(golden);
  }
}

PlateauPolicy rule_of(const config::Node& keys) {
  PlateauPolicy rule;
  const auto set = [&](const char* key, auto& value) {
    const config::Node* found = keys.find(key);
    if (found != nullptr)
      value = static_cast<std::remove_reference_t<decltype(value)>>(found->real);
  };
  set("factor", rule.factor);
  set("patience", rule.patience);
  set("min_delta", rule.min_delta);
  set("cooldown", rule.cooldown);
  set("min_lr", rule.min_rate);
  rule.larger_is_better = keys.find("mode") != nullptr && keys.find("mode")->text == "max";
  return rule;
}

TEST_CASE("a plateau lowers the rate after the same epochs as Keras, to the same values") {
  const config::Node cases = goldens_of("plateaus");
  REQUIRE(cases.items.size() >= 5);
  for (const config::Node& golden : cases.items) {
    CAPTURE(golden.find("case")->text);
    const PlateauPolicy rule = rule_of(*golden.find("plateau"));
    const double base = golden.find("base")->real;
    PlateauState state;
    double rate = base;
    const auto& rates = golden.find("rates")->items;
    for (std::size_t epoch = 0; epoch < rates.size(); ++epoch) {
      CAPTURE(epoch);
      state = after_epoch(rule, state, golden.find("values")->items[epoch].real, rate);
      rate = plateau_rate(state, rule.min_rate, base);
      CHECK(equal(rate, rates[epoch].real));
    }
    CHECK(rate < base);
  }
}

TEST_CASE("a value that is not a number changes nothing, an infinite one is no improvement") {
  const PlateauPolicy rule{.factor = 0.5, .patience = 2};
  const double infinite = std::numeric_limits<double>::infinity();
  PlateauState state = after_epoch(rule, {}, infinite, 0.1);
  CHECK_FALSE(state.best.has_value());
  CHECK(state.waited == 1);
  for (int epoch = 0; epoch < 3; ++epoch) state = after_epoch(rule, state, std::nan(""), 0.1);
  CHECK(state.waited == 1);
  CHECK(state.factor == 1);
  state = after_epoch(rule, state, infinite, 0.1);
  CHECK(state.factor == 0.5);
  CHECK(after_epoch(rule, state, 3, 0.1).best == 3);
}

TEST_CASE("a plateau multiplies a schedule, and does not raise a rate that is below the least") {
  const PlateauState lowered{.factor = 0.25};
  CHECK(plateau_rate(lowered, 0.01, 0.4) == 0.1);
  CHECK(plateau_rate(lowered, 0.01, 0.02) == 0.01);
  CHECK(plateau_rate(lowered, 0.01, 0.005) == 0.005);
  CHECK(plateau_rate({}, 0.01, 0.3) == 0.3);
}

}  // namespace
}  // namespace trainyard
