// Running statistics of batch norm over the micro-batches of a step.
#include <doctest/doctest.h>

#include <cstring>

#include "data/sets/memory_dataset.h"
#include "optim/blocks.h"
#include "rank_training.h"

namespace trainyard::test {

TEST_CASE("with accumulate running statistics move once per step, by the mean over micro-batches") {
  MemorySamples samples{.image = Shape{1, 1, 1}, .classes = 2};
  samples.floats = {1, 3, 10, 20};  // means 2 and 15, variances 1 and 25
  samples.labels = {0, 1, 0, 1};
  const MemoryDataset set(std::move(samples));
  const TrainedRank trained = train_on_ranks(
      1, {.network = "{input: [1, 1, 1], layers: [bn: {momentum: 0.75, running_var: biased}, "
                     "dense: 2, softmax]}",
          .target = reference_target(Precision::fp64),
          .batch = 2,
          .updates = 1,
          .options = {.accumulate = 2},
          .set = &set})[0];
  std::vector<double> running(trained.running.size() / sizeof(double));
  std::memcpy(running.data(), trained.running.data(), trained.running.size());
  REQUIRE(running.size() > kChunk);
  CHECK(running[0] == doctest::Approx(0.25 * 8.5).epsilon(1e-14));
  CHECK(running[kChunk] == doctest::Approx(0.75 + 0.25 * 13).epsilon(1e-14));
}

}  // namespace trainyard::test
