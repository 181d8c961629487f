// Training with a loss scale.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Trained train(Precision precision, const LossScale& scale) {
  const auto executors = make_reference_executors();
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto launches = make_cpu_update_launches(1);
  return train_ten_steps(training_graph(kSmallNetwork, 6), cuda_target(precision),
                         {*device, *queue, *executors, *launches},
                         {.clip_norm = 0.5, .results = 4, .loss_scale = scale});
}

}  // namespace

TEST_CASE("in float a loss scale changes no bit, since it is a power of two") {
  const Trained plain = train(Precision::fp32, {});
  CHECK(plain.loss_scale == std::vector<double>(10, 1.0));
  for (const LossScale scale : {LossScale{.start = 1024}, LossScale{.start = 4096, .dynamic = true},
                                LossScale{.start = 2, .dynamic = true, .growth = 3}}) {
    const Trained scaled = train(Precision::fp32, scale);
    CHECK(scaled.losses == plain.losses);
    CHECK(scaled.weights == plain.weights);
    CHECK(scaled.running == plain.running);
  }
}

TEST_CASE("a dynamic loss scale grows after a number of steps without overflow") {
  const Trained trained = train(Precision::fp32, {.start = 2, .dynamic = true, .growth = 3});
  CHECK(trained.loss_scale == std::vector<double>{2, 2, 2, 4, 4, 4, 8, 8, 8, 16});
  CHECK(trained.skipped == std::vector<bool>(10, false));
}

TEST_CASE("fp16 gradients that overflow skip their step and halve a dynamic loss scale") {
  const Trained trained =
      train(Precision::fp16, {.start = LossScale::kMost, .dynamic = true, .growth = 100});
  CHECK(trained.finite == std::vector<bool>(10, true));
  const auto skips = std::count(trained.skipped.begin(), trained.skipped.end(), true);
  REQUIRE(skips > 0);
  REQUIRE(skips < 10);
  double scale = LossScale::kMost;
  for (std::size_t step = 0; step < 10; ++step) {
    CHECK(trained.loss_scale[step] == scale);
    if (trained.skipped[step]) scale /= 2;
  }
  CHECK(std::all_of(trained.weights.begin(), trained.weights.end(),
                    [](double weight) { return std::isfinite(weight); }));
}

TEST_CASE("fp16 gradients that overflow a static loss scale end the training") {
  const Trained trained = train(Precision::fp16, {.start = LossScale::kMost});
  CHECK(trained.finite == std::vector<bool>(10, false));
}
