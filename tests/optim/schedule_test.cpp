// Schedules against formulas and tables.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "read.h"

namespace trainyard {
namespace {

using test::schedule;

// 70 epochs of 781 steps from 5e-3: the multi-GPU Keras guide's run.
const ScheduleContext kGuide{5e-3, 70 * 781, 781};

// The learning rate of the last step of `epoch`, counted from 1 as in the log.
double rate_of_epoch(const Schedule& rule, std::int64_t epoch, const ScheduleContext& context) {
  return rule.rate(epoch * context.steps_per_epoch - 1, context);
}

TEST_CASE("poly by epoch falls from 5e-3 in epoch 1 to 7.143e-5 in epoch 70") {
  const auto poly = schedule("poly: {power: 1.0, by: epoch}");
  CHECK(rate_of_epoch(*poly, 1, kGuide) == 5e-3);
  CHECK(rate_of_epoch(*poly, 2, kGuide) == doctest::Approx(5e-3 * (1 - 1.0 / 70)).epsilon(1e-14));
  CHECK(rate_of_epoch(*poly, 70, kGuide) == doctest::Approx(7.142857142857e-5).epsilon(1e-12));
  CHECK(poly->rate(70 * 781, kGuide) == 0);
  CHECK(poly->rate(80 * 781, kGuide) == 0);
}

TEST_CASE("poly by step changes every step and honours power, end and length") {
  const auto poly = schedule("poly: {power: 2, end: 1e-3, length: 1000, by: step}");
  for (const std::int64_t step : {0, 1, 500, 999, 1000, 5000}) {
    const double left = 1 - std::min(1.0, static_cast<double>(step) / 1000);
    CHECK(poly->rate(step, kGuide) == doctest::Approx(4e-3 * left * left + 1e-3).epsilon(1e-14));
  }
}

TEST_CASE("cosine runs from the base through the middle to the end") {
  const auto cosine = schedule("cosine: {by: step, end: 1e-3}");
  const std::int64_t total = 70 * 781;
  CHECK(cosine->rate(0, kGuide) == 5e-3);
  CHECK(cosine->rate(total / 2, kGuide) == doctest::Approx(3e-3).epsilon(1e-12));
  CHECK(cosine->rate(total, kGuide) == doctest::Approx(1e-3).epsilon(1e-14));
  const double quarter = 1e-3 + 4e-3 * 0.5 * (1 + std::numbers::sqrt2 / 2);
  CHECK(schedule("cosine: {end: 1e-3, length: 8}")->rate(2 * 781, kGuide) ==
        doctest::Approx(quarter).epsilon(1e-14));
}

TEST_CASE("a boundary applies once t reaches it") {
  const auto step = schedule("step: {every: 3, gamma: 0.5}");
  const double expected[] = {5e-3, 5e-3, 5e-3, 2.5e-3, 2.5e-3, 2.5e-3, 1.25e-3};
  for (std::int64_t epoch = 0; epoch < 7; ++epoch) {
    CHECK(step->rate(epoch * 781, kGuide) == expected[epoch]);
    CHECK(step->rate(epoch * 781 + 780, kGuide) == expected[epoch]);
  }
  const auto multistep = schedule("multistep: {at: [2, 5], gamma: 0.5, by: step}");
  const double steps[] = {5e-3, 5e-3, 2.5e-3, 2.5e-3, 2.5e-3, 1.25e-3, 1.25e-3};
  for (std::int64_t t = 0; t < 7; ++t) CHECK(multistep->rate(t, kGuide) == steps[t]);
}

TEST_CASE("multistep takes its boundaries as a plain list") {
  const auto multistep = schedule("multistep: [30, 60]");
  CHECK(multistep->rate(29 * 781, kGuide) == 5e-3);
  CHECK(multistep->rate(30 * 781, kGuide) == doctest::Approx(5e-4).epsilon(1e-14));
  CHECK(multistep->rate(60 * 781, kGuide) == doctest::Approx(5e-5).epsilon(1e-14));
}

TEST_CASE("exponential and inverse follow Caffe's formulas") {
  const auto exponential = schedule("exponential: {gamma: 0.9, by: step}");
  const auto inverse = schedule("inverse: {gamma: 1e-2, power: 0.75, by: step}");
  for (const std::int64_t t : {0, 1, 10, 1000}) {
    const auto x = static_cast<double>(t);
    CHECK(exponential->rate(t, kGuide) == doctest::Approx(5e-3 * std::pow(0.9, x)).epsilon(1e-14));
    CHECK(inverse->rate(t, kGuide) ==
          doctest::Approx(5e-3 * std::pow(1 + 1e-2 * x, -0.75)).epsilon(1e-14));
  }
}

TEST_CASE("constant keeps the base learning rate") {
  CHECK(schedule("constant")->rate(0, kGuide) == 5e-3);
  CHECK(schedule("constant")->rate(50'000, kGuide) == 5e-3);
}

// lr_schedule of Keras's cifar10_resnet.py: epoch counts from 0 and the comparison is strict.
double keras_function(std::int64_t epoch) {
  if (epoch > 180) return 0.5e-6;
  if (epoch > 160) return 1e-6;
  if (epoch > 120) return 1e-5;
  if (epoch > 80) return 1e-4;
  return 1e-3;
}

TEST_CASE("the piecewise table equals Keras's ResNet function in all 200 epochs") {
  const auto table =
      schedule("piecewise: [[0, 1e-3], [81, 1e-4], [121, 1e-5], [161, 1e-6], [181, 5e-7]]");
  const ScheduleContext context{1e-3, 200 * 1562, 1562};
  for (std::int64_t epoch = 0; epoch < 200; ++epoch) {
    REQUIRE(table->rate(epoch * 1562, context) == keras_function(epoch));
    REQUIRE(table->rate(epoch * 1562 + 1561, context) == keras_function(epoch));
  }
}

TEST_CASE("before the first row of a table the optimizer's learning rate applies") {
  const auto table = schedule("piecewise: {table: [[10, 1e-3]], by: step}");
  CHECK(table->rate(9, kGuide) == 5e-3);
  CHECK(table->rate(10, kGuide) == 1e-3);
}

TEST_CASE("warm-up is linear by step from its start to the schedule's own learning rate") {
  const auto warm = schedule("constant: {warmup: {epochs: 2, from: 1e-3}}");
  const std::int64_t length = 2 * 781;
  CHECK(warm->rate(0, kGuide) == 1e-3);
  CHECK(warm->rate(length / 2, kGuide) == doctest::Approx(3e-3).epsilon(1e-14));
  CHECK(warm->rate(length, kGuide) == 5e-3);
  const auto steps = schedule("constant: {warmup: {steps: 10}}");
  CHECK(steps->rate(0, kGuide) == 0);
  CHECK(steps->rate(3, kGuide) == doctest::Approx(1.5e-3).epsilon(1e-14));
  CHECK(steps->rate(10, kGuide) == 5e-3);
}

TEST_CASE("a run shorter than its warm-up still trains") {
  // Warmed over all of its 390 steps while the cosine falls to 0.
  const auto rule = schedule("cosine: {by: step, warmup: {epochs: 1}}");
  const ScheduleContext context{0.1, 390, 390};
  CHECK(rule->rate(0, context) == 0);
  CHECK(rule->rate(195, context) == doctest::Approx(0.1 * 0.5 * 0.5).epsilon(1e-12));
  CHECK(rule->rate(389, context) > 0);
}

TEST_CASE(
    "the warm-up ends without a jump: no step changes the learning rate more than its neighbours") {
  const ScheduleContext context{0.1, 30 * 390, 390};
  for (const char* yaml : {"cosine: {by: step, warmup: {epochs: 1}}",
                           "poly: {by: step, power: 2, warmup: {steps: 700, from: 0.02}}"}) {
    const auto rule = schedule(yaml);
    double largest = 0;
    for (std::int64_t step = 0; step < 30 * 390; ++step) {
      const double change = rule->rate(step + 1, context) - rule->rate(step, context);
      largest = std::max(largest, std::abs(change));
      REQUIRE(rule->rate(step, context) >= 0);
    }
    // The steepest part is the warm-up of cosine: 0.1 over 390 steps.
    CHECK(largest <= 0.1 / 390 + 1e-12);
  }
}

TEST_CASE("linear goes from one factor of the base to another and stays there") {
  const auto linear = schedule("linear: {from: 0.2, to: 1, length: 8, by: step}");
  const double expected[] = {0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1};
  for (std::int64_t t = 0; t < 10; ++t) {
    CHECK(linear->rate(t, kGuide) == doctest::Approx(5e-3 * expected[t]).epsilon(1e-14));
  }
  CHECK(schedule("linear")->rate(35 * 781, kGuide) == doctest::Approx(2.5e-3).epsilon(1e-14));
}

TEST_CASE("t stops at the length of any schedule") {
  const auto exponential = schedule("exponential: {gamma: 0.5, length: 3}");
  CHECK(exponential->rate(3 * 781, kGuide) == 5e-3 / 8);
  CHECK(exponential->rate(60 * 781, kGuide) == 5e-3 / 8);
}

TEST_CASE("sigmoid and the inverse square root follow their formulas") {
  const auto sigmoid = schedule("sigmoid: {gamma: -0.1, center: 20, by: step}");
  const auto root = schedule("inverse_sqrt: {flat: 400, warmup: {steps: 400}}");
  for (const std::int64_t t : {0, 20, 400, 1000}) {
    const auto x = static_cast<double>(t);
    CHECK(sigmoid->rate(t, kGuide) ==
          doctest::Approx(5e-3 / (1 + std::exp(0.1 * (x - 20)))).epsilon(1e-14));
    // Vaswani et al. 2017, equation 3, with the base at step 400.
    const double original = t == 0 ? 0 : std::min(1 / std::sqrt(x), x * std::pow(400, -1.5)) * 20;
    CHECK(root->rate(t, kGuide) == doctest::Approx(5e-3 * original).epsilon(1e-14));
  }
}

TEST_CASE("wsd is constant until its last part, which falls in its shape") {
  const ScheduleContext context{1, 10 * 10, 10};
  const auto at = [&](const std::string& shape, std::int64_t step) {
    return schedule("wsd: {decay: 0.4, end: 0.2, shape: " + shape + "}")->rate(step, context);
  };
  for (const char* shape : {"linear", "cosine", "sqrt"}) {
    CHECK(at(shape, 0) == 1);
    CHECK(at(shape, 60) == 1);
    CHECK(at(shape, 100) == doctest::Approx(0.2).epsilon(1e-14));
  }
  CHECK(at("linear", 70) == doctest::Approx(0.8).epsilon(1e-14));
  CHECK(at("cosine", 80) == doctest::Approx(0.6).epsilon(1e-14));
  CHECK(at("sqrt", 70) == doctest::Approx(0.6).epsilon(1e-14));
}

TEST_CASE("a warm-up rises by its form, and a constant one jumps at its end") {
  const auto at_half = [](const std::string& form) {
    return schedule("constant: {warmup: {steps: 10, from: 1e-3, form: " + form + "}}")
        ->rate(5, kGuide);
  };
  CHECK(at_half("linear") == doctest::Approx(3e-3).epsilon(1e-14));
  CHECK(at_half("quadratic") == doctest::Approx(2e-3).epsilon(1e-14));
  CHECK(at_half("power4") == doctest::Approx(1.25e-3).epsilon(1e-14));
  CHECK(at_half("constant") == 1e-3);
  CHECK(schedule("constant: {warmup: {steps: 10, form: constant}}")->rate(10, kGuide) == 5e-3);
}

TEST_CASE("the parts of a chain count from their starts, and the last takes the rest") {
  const auto chain = schedule(
      "chain: {parts: [constant: {length: 2}, linear: {from: 1, to: 0.5, length: 781, by: step}, "
      "cosine]}");
  CHECK(chain->rate(0, kGuide) == 5e-3);
  CHECK(chain->rate(2 * 781, kGuide) == 5e-3);
  CHECK(chain->rate(2 * 781 + 390, kGuide) ==
        doctest::Approx(5e-3 * (1 - 0.5 * 390 / 781)).epsilon(1e-14));
  CHECK(chain->rate(3 * 781, kGuide) == 5e-3);
  const double wave = 0.5 * (1 + std::cos(std::numbers::pi * 20 / 67));
  CHECK(chain->rate(23 * 781, kGuide) == doctest::Approx(5e-3 * wave).epsilon(1e-14));
  CHECK_FALSE(chain->warms_up());
  CHECK(
      schedule("chain: {parts: [constant: {length: 1, warmup: {epochs: 1}}, cosine]}")->warms_up());
}

TEST_CASE("a schedule knows the steps after which its warm-up ends and its last part applies") {
  const auto warmup = [](const std::string& yaml) { return schedule(yaml)->warmup_steps(10); };
  CHECK(warmup("cosine") == 0);
  CHECK(warmup("cosine: {warmup: {epochs: 1.5}}") == 15);
  CHECK(warmup("cosine: {warmup: {steps: 7}}") == 7);
  CHECK(warmup("expression: $base") == 0);
  CHECK(warmup("chain: {parts: [constant: {length: 1, warmup: {steps: 7}}, cosine]}") == 7);
  const auto last = [](const std::string& yaml) { return schedule(yaml)->last_part(10); };
  CHECK(last("cosine") == 0);
  CHECK(last("expression: $base") == 0);
  CHECK(last("multistep: [3, 8]") == 80);
  CHECK(last("multistep: {at: [3, 8], by: step}") == 8);
  CHECK(last("piecewise: [[0, 1e-3], [5, 1e-4]]") == 50);
  CHECK(last("chain: {parts: [constant: {length: 2}, cosine]}") == 20);
  CHECK(last("chain: {parts: [constant: {length: 2}, multistep: [3, 8]]}") == 100);
}

TEST_CASE("an expression is a formula of base, epochs and steps, also within a chain") {
  const auto formula = schedule("expression: $base * 0.95**epoch");
  CHECK(formula->rate(0, kGuide) == 5e-3);
  CHECK(formula->rate(10 * 781 + 5, kGuide) ==
        doctest::Approx(5e-3 * std::pow(0.95, 10)).epsilon(1e-14));
  const auto half = schedule("expression: {lr: '$base / 2 if step < steps / 2 else 1e-4'}");
  CHECK(half->rate(27'334, kGuide) == 2.5e-3);
  CHECK(half->rate(27'335, kGuide) == 1e-4);
  const auto later =
      schedule("chain: {parts: [constant: {length: 60}, expression: $base * epoch / epochs]}");
  CHECK(later->rate(65 * 781, kGuide) == doctest::Approx(2.5e-3).epsilon(1e-14));
}

TEST_CASE(
    "a formula is computed at steps of the run alone: after the last one it keeps its value") {
  const ScheduleContext context{0.5, 4 * 25, 25};
  const auto line = schedule("expression: $base * (1 - step / steps)");
  check_rates(*line, context);
  CHECK(line->rate(99, context) == 0.5 * (1 - 99.0 / 100));
  const auto pole = schedule("expression: $base / (100 - step)");
  check_rates(*pole, context);
  for (const std::int64_t step : {99, 100, 101, 1024}) CHECK(pole->rate(step, context) == 0.5);
  const auto last =
      schedule("chain: {parts: [constant: {length: 1}, expression: $0.1 / (75 - step)]}");
  check_rates(*last, context);
  CHECK(last->rate(2000, context) == 0.1);
}

TEST_CASE("a formula without a learning rate is refused before the run, with place and step") {
  const auto refusal = [](const std::string& yaml, const ScheduleContext& context = kGuide) {
    return test::message_of([&] {
      check_rates(*schedule(yaml), context);
      return 0;
    });
  };
  CHECK(refusal("expression: $base / max(0, 3 - epoch)") ==
        "t.yaml:2:15: cannot evaluate '$base / max(0, 3 - epoch)': division by zero");
  CHECK(refusal("expression: $base * (2 - epoch)") ==
        "t.yaml:2:15: the learning rate must be a number of at least 0, found number -0.005 after "
        "2343 steps");
  CHECK(refusal("expression: $bas * 2").find("unknown name 'bas'") != std::string::npos);
  CHECK(refusal("expression: fast") ==
        "t.yaml:2:15: the learning rate must be a number of at least 0, found text 'fast' after 0 "
        "steps");
  // Within an epoch, and at the last step.
  CHECK(refusal("expression: $base / max(step - 1000, 1000 - step)").find("division by zero") !=
        std::string::npos);
  CHECK(refusal("expression: $base * (steps - 1.5 - step)").ends_with("after 54669 steps"));
  // At the last step of a run whose steps are not all computed.
  CHECK(refusal("expression: $steps - 1.5 - step", {0.1, 250'001, 1000})
            .ends_with("after 250000 steps"));
  CHECK(refusal("cosine").empty());
}

}  // namespace
}  // namespace trainyard
