// Training on a device whose memory the host cannot access: the requirements of a GPU on everything
// above the executors.
#include "simulated_gpu.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kSimulatedBatch = 6;

constexpr std::int64_t kSimulatedSteps = 10;

void check_equal(const Trained& found, const Trained& expected) {
  CHECK(found.losses == expected.losses);
  CHECK(found.weights == expected.weights);
  CHECK(found.running == expected.running);
  CHECK(found.evaluation.loss == expected.evaluation.loss);
  CHECK(found.evaluation.metrics == expected.evaluation.metrics);
  CHECK(found.evaluation.samples == kSimulatedBatch);
}

}  // namespace

TEST_CASE("only a device's own work accesses its memory, and nothing uninitialised is read") {
  const auto executors = make_reference_executors();
  const TrainingGraph graph = training_graph(kSmallNetwork, kSimulatedBatch);
  for (const Target& target : {reference_target(Precision::fp64), reference_target(Precision::fp32),
                               cuda_target(Precision::bf16)}) {
    SimulatedGpu gpu(*executors);
    const Trained expected = train_ten_steps(graph, target, *executors);
    CHECK(expected.finite == std::vector<bool>(kSimulatedSteps, true));
    check_equal(train_ten_steps(graph, target, gpu.compute()), expected);
  }
}

TEST_CASE("results read every few steps equal those read every step") {
  const auto executors = make_reference_executors();
  const TrainingGraph graph = training_graph(kSmallNetwork, kSimulatedBatch);
  const Target target = reference_target(Precision::fp32);
  const Trained expected = train_ten_steps(graph, target, *executors);
  SimulatedGpu gpu(*executors);
  const std::map<std::int64_t, std::vector<std::int64_t>> left{
      {1, std::vector<std::int64_t>(kSimulatedSteps, 0)}, {3, {3, 3}}, {5, {5}}, {16, {}}};
  for (const auto& [kept, pending] : left) {
    const Trained trained = train_ten_steps(graph, target, gpu.compute(), {.results = kept});
    check_equal(trained, expected);
    // The newest are still in flight: nothing waited for them.
    CHECK(trained.left == pending);
  }
}

TEST_CASE("a step that is not finite is withheld with all that follow, however late it is read") {
  const auto executors = make_reference_executors();
  const TrainingGraph graph = training_graph(kSmallNetwork, kSimulatedBatch);
  const Target target = reference_target(Precision::fp32);
  const auto train = [&](std::int64_t kept, std::int64_t bad_step) {
    SimulatedGpu gpu(*executors);
    std::int64_t step = 0;
    return train_ten_steps(graph, target, gpu.compute(), {.results = kept},
                           [&](std::vector<float>& images) {
                             if (step++ == bad_step)
                               images[0] = std::numeric_limits<float>::infinity();
                           });
  };
  for (const std::int64_t bad : {0, 4, 9}) {
    CAPTURE(bad);
    const Trained at_once = train(1, bad), late = train(16, bad);
    std::vector<bool> finite(kSimulatedSteps, true);
    std::fill(finite.begin() + bad, finite.end(), false);
    CHECK(at_once.finite == finite);
    CHECK(late.finite == finite);
    CHECK(late.weights == at_once.weights);
    CHECK(late.running == at_once.running);
    CHECK(std::all_of(late.weights.begin(), late.weights.end(),
                      [](double weight) { return std::isfinite(weight); }));
  }
}
