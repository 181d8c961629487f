// Learning-rate scaling for another global batch.
#include "optim/rate_scaling.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "read.h"

namespace trainyard {
namespace {

// The multi-GPU Keras guide's run on 4 GPUs: 70 epochs of 195 steps from 5e-3.
const ScheduleContext kGuideOnFour{5e-3, 70 * 195, 195};

RateScaling scaling(const std::string& yaml) {
  return *test::read_member(yaml, rate_scaling_kinds(), config::Profile::keras2);
}

TEST_CASE("linear multiplies by the ratio of the batches, sqrt by its root, none by 1") {
  CHECK(scaling("none").factor(4) == 1);
  CHECK(scaling("linear").factor(4) == 4);
  CHECK(scaling("sqrt").factor(4) == 2);
  for (const char* name : {"none", "linear", "sqrt"}) CHECK(scaling(name).name() == name);
}

TEST_CASE("the factor grows from 1 over five epochs by equal amounts") {
  const auto schedule = scaled_schedule(nullptr, scaling("linear"), 4);
  CHECK(schedule->rate(0, kGuideOnFour) == 5e-3);
  CHECK(schedule->rate(195, kGuideOnFour) == doctest::Approx(5e-3 * 1.6).epsilon(1e-15));
  CHECK(schedule->rate(5 * 195 - 1, kGuideOnFour) ==
        doctest::Approx(5e-3 * (4 - 3.0 / 975)).epsilon(1e-15));
  CHECK(schedule->rate(5 * 195, kGuideOnFour) == 2e-2);
  CHECK(schedule->rate(69 * 195, kGuideOnFour) == 2e-2);
}

TEST_CASE("a factor below 1 has no warm-up, and the warm-up can be disabled") {
  const auto smaller = scaled_schedule(nullptr, scaling("linear"), 0.5);
  CHECK(smaller->rate(0, kGuideOnFour) == 2.5e-3);
  const auto at_once = scaled_schedule(nullptr, scaling("linear: {warmup_epochs: 0}"), 4);
  CHECK(at_once->rate(0, kGuideOnFour) == 2e-2);
}

TEST_CASE("if the schedule warms up, the factor applies from the start") {
  const auto plain = test::schedule("constant: {warmup: {epochs: 1}}");
  const auto scaled =
      scaled_schedule(test::schedule("constant: {warmup: {epochs: 1}}"), scaling("linear"), 4);
  for (const std::int64_t step : {0, 100, 195, 300}) {
    CHECK(scaled->rate(step, kGuideOnFour) == 4 * plain->rate(step, kGuideOnFour));
  }
}

TEST_CASE("every learning rate of a schedule is scaled") {
  const auto plain = test::schedule("poly: {power: 1.0, by: epoch}");
  const auto scaled = scaled_schedule(test::schedule("poly: {power: 1.0, by: epoch}"),
                                      scaling("sqrt: {warmup_epochs: 1}"), 9);
  CHECK(scaled->name() == "poly");
  for (const std::int64_t step : {195, 1000, 7000, 13649}) {
    CHECK(scaled->rate(step, kGuideOnFour) == 3 * plain->rate(step, kGuideOnFour));
  }
  CHECK(scaled->rate(65, kGuideOnFour) == doctest::Approx((1 + 2.0 / 3) * 5e-3).epsilon(1e-15));
}

TEST_CASE("the warm-up of a factor counts as one of the schedule, whose last part stays") {
  const auto scaled = [](const std::string& yaml, double ratio) {
    return scaled_schedule(test::schedule(yaml), scaling("linear: {warmup_epochs: 3}"), ratio);
  };
  const std::string own = "multistep: {at: [20], warmup: {epochs: 1}}";
  CHECK(scaled(own, 2)->warmup_steps(195) == 3 * 195);
  CHECK(scaled(own, 1)->warmup_steps(195) == 195);
  CHECK(scaled("cosine: {warmup: {epochs: 4}}", 4)->warmup_steps(195) == 4 * 195);
  CHECK(scaled(own, 4)->last_part(195) == 20 * 195);
  const auto unscheduled = scaled_schedule(nullptr, scaling("linear"), 1);
  CHECK(unscheduled->warmup_steps(195) == 0);
  CHECK(unscheduled->last_part(195) == 0);
}

TEST_CASE("schedules know whether they warm up") {
  CHECK_FALSE(test::schedule("constant")->warms_up());
  CHECK(test::schedule("cosine: {warmup: {epochs: 0.5}}")->warms_up());
  CHECK(test::schedule("poly: {warmup: {steps: 1}}")->warms_up());
  CHECK_FALSE(test::schedule("expression: $base")->warms_up());
}

TEST_CASE("a reference batch below 1 is refused") {
  CHECK(test::message_of([] {
          return scaling("linear: 0");
        }).find("'batch' must be a whole number of at least 1, found number 0") !=
        std::string::npos);
}

}  // namespace
}  // namespace trainyard
