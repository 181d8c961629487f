// A run resumed on another number of ranks ends like an uninterrupted one, without shards.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "rank_sessions.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// In double, where rounding in another order stays small. Batch norm is over all ranks, so that
/// only the global batch matters.
constexpr const char* kResumedRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  defaults: {bn: {sync: true}, conv: {l2: 1e-3}}
  layers:
    - conv: {filters: 6, kernel: 3, pad: same_upper}
    - bn
    - relu
    - add: [[conv: {filters: 6, kernel: 3, pad: same_upper}, bn], []]
    - relu
    - global_avg_pool
    - dropout: 0.3
    - dense: 4
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 83, learnable: true}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 19, split: test, learnable: true}
  preprocess: [mean_image: train, scale: $1/255]
  augment: [hflip: 0.5, shift: {x: 0.2, y: 0.2}]
  workers: 0
batch: {total: 16}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
schedule: {poly: {power: 1, by: step}}
clip_norm: 2
epochs: 3
)";
constexpr std::int64_t kResumedUpdates = 15;  // 3 epochs of 5

/// The run with two losses and weighted samples.
std::string weighted_run() {
  std::string text = kResumedRun;
  const auto put = [&](const std::string& after, const std::string& added) {
    const std::size_t at = text.find(after);
    REQUIRE(at != std::string::npos);
    text.insert(at + after.size(), added);
  };
  put("  layers:\n",
      "    - {conv: [4, 3], as: stem}\n    - global_avg_pool\n"
      "    - {dense: 4, as: aux}\n    - {relu: , from: stem}\n");
  put("- dense: 4\n", "  outputs: [aux]\n");
  put("loss: cross_entropy\n",
      "heads: [cross_entropy: {output: aux, weight: 0.4}]\n"
      "class_weights: {0: 3, 2: 0.5}\nignore_label: 1\n");
  return text;
}

PartialRun stretch(int ranks, const LoadedCheckpoint* from, std::int64_t until) {
  return {.yaml = kResumedRun,
          .device = DeviceChoice::Kind::reference,
          .ranks = ranks,
          .from = from,
          .until = until};
}

}  // namespace

TEST_CASE("a run resumed from 4 ranks on 1 and then on 2 ends like an uninterrupted one") {
  const PartialRunEnd whole = run_stretch(stretch(1, nullptr, 0));
  REQUIRE(whole.reached);
  REQUIRE(whole.losses.size() == kResumedUpdates);

  const PartialRunEnd first = run_stretch(stretch(4, nullptr, 4));
  REQUIRE(first.reached);
  const PartialRunEnd second = run_stretch(stretch(1, &*first.reached, 8));
  REQUIRE(second.reached);
  const PartialRunEnd third = run_stretch(stretch(2, &*second.reached, 0));
  REQUIRE(third.reached);

  // The loss of each step is that of its samples, their augmentation and masks.
  std::vector<double> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  losses.insert(losses.end(), third.losses.begin(), third.losses.end());
  CHECK(largest_difference(losses, whole.losses) < 1e-9);
  CHECK(largest_difference(*third.reached, *whole.reached) < 1e-9);

  // Another order of the samples is more than a rounding error.
  PartialRun other = stretch(1, nullptr, 0);
  other.overrides = {"seed=43"};
  const PartialRunEnd other_seed = run_stretch(other);
  REQUIRE(other_seed.reached);
  CHECK(largest_difference(other_seed.losses, whole.losses) > 1e-3);
  CHECK(largest_difference(*other_seed.reached, *whole.reached) > 1e-3);
}

TEST_CASE(
    "two losses of weighted samples, resumed from 4 ranks on 1, end like an uninterrupted run") {
  PartialRun whole_run = stretch(1, nullptr, 0);
  whole_run.yaml = weighted_run();
  const PartialRunEnd whole = run_stretch(whole_run);
  REQUIRE(whole.reached);
  REQUIRE(whole.losses.size() == kResumedUpdates);
  PartialRun begin = stretch(4, nullptr, 7);
  begin.yaml = weighted_run();
  const PartialRunEnd first = run_stretch(begin);
  REQUIRE(first.reached);
  PartialRun rest = stretch(1, &*first.reached, 0);
  rest.yaml = weighted_run();
  const PartialRunEnd second = run_stretch(rest);
  REQUIRE(second.reached);
  std::vector<double> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  CHECK(largest_difference(losses, whole.losses) < 1e-9);
  CHECK(largest_difference(*second.reached, *whole.reached) < 1e-9);
}
