// ResNet-20 in float32: ranks with one global batch and synchronised batch norm against one rank.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/median.h"
#include "base/philox.h"
#include "rank_sessions.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

// Five steps at a learning rate at which one ulp stays small. Winograd's forms are chosen by
// timing, in runs without a cache each time anew.
const std::string kSpreadRun =
    std::string(R"(
name: resnet20
network: {file: )") +
    TY_SOURCE_DIR +
    R"(/models/resnet_cifar.yaml, vars: {n: 3}, defaults: {bn: {sync: true}}}
data:
  train: {source: synthetic, shape: [3, 32, 32], classes: 10, size: 160, learnable: true}
  val: {source: synthetic, shape: [3, 32, 32], classes: 10, size: 8, split: test, learnable: true}
  preprocess: [mean_rgb: train, std_rgb: train]
  augment: [pad_crop: 4, hflip: 0.5]
  workers: 0
batch: {total: 32}
loss: cross_entropy
optimizer: {sgd: {lr: 1e-4, momentum: 0.9}}
epochs: 1
winograd: false
)";
constexpr std::int64_t kSpreadUpdates = 5;
constexpr std::uint64_t kSpreadRuns = 9;

/// Moves every weight by one ulp, up or down at random by `seed`.
void move_weights(Model& model, std::uint64_t seed) {
  Queue& queue = model.compute().queue;
  std::vector<float> weights(static_cast<std::size_t>(model.blocks().parameter_elements));
  const std::size_t bytes = weights.size() * sizeof(float);
  queue.copy_to_host(weights.data(), model.memory().weights(), bytes);
  queue.wait();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const bool up = random4(seed, RandomStream::synthetic, 0, 0, i).word[0] % 2 == 0;
    weights[i] = std::nextafter(weights[i], up ? INFINITY : -INFINITY);
  }
  queue.copy_from_host(model.memory().weights(), weights.data(), bytes);
  queue.wait();
}

PartialRunEnd train(int ranks, std::uint64_t moved = 0) {
  PartialRunEnd end = run_stretch(
      {.yaml = kSpreadRun,
       .ranks = ranks,
       .until = kSpreadUpdates,
       .before_update = [moved](Session& session, RankGroup&, const TrainingState& state) {
         if (moved == 0 || state.step > 0) return;
         move_weights(session.model(), moved);
       }});
  REQUIRE(end.outcomes == testing::Outcomes(static_cast<std::size_t>(ranks)));
  REQUIRE(end.losses.size() == kSpreadUpdates);
  return end;
}

}  // namespace

TEST_CASE("ResNet-20 on 2 and 4 ranks stays within ten times the effect of one ulp on one rank") {
  const PartialRunEnd one = train(1);
  std::vector<double> losses, weights;
  for (std::uint64_t seed = 1; seed <= kSpreadRuns; ++seed) {
    const PartialRunEnd moved = train(1, seed);
    losses.push_back(largest_difference(moved.losses, one.losses));
    weights.push_back(largest_difference(*moved.reached, *one.reached));
  }
  for (const int ranks : {2, 4}) {
    const PartialRunEnd several = train(ranks);
    const double loss = largest_difference(several.losses, one.losses);
    const double weight = largest_difference(*several.reached, *one.reached);
    MESSAGE(ranks << " ranks: losses " << loss << " (one ulp: " << median(losses) << "), weights "
                  << weight << " (" << median(weights) << ")");
    CHECK(loss <= 10 * median(losses));
    CHECK(weight <= 10 * median(weights));
    // The same bytes from run to run.
    const PartialRunEnd again = train(ranks);
    CHECK(again.losses == several.losses);
    CHECK(largest_difference(*again.reached, *several.reached) == 0);
  }
  CHECK(median(losses) > 0);
}
