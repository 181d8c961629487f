// Steps that several ranks make together, without shards.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/parallel.h"
#include "data/sets/memory_dataset.h"
#include "rank_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Without batch norm, whose statistics would be those of a rank's batch.
constexpr const char* kNoNorm = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 6, kernel: 3, l2: 1e-3}
  - relu
  - dropout: 0.25
  - max_pool: 2
  - dense: 4
  - softmax
)";

/// One global batch of 12 samples.
RankTraining training_of(int ranks, bool onednn) {
  return {.network = kNoNorm,
          .target = onednn ? cpu_target(processor_has_avx512()) : reference_target(Precision::fp64),
          .onednn = onednn,
          .batch = 12 / ranks};
}

std::vector<double> doubles_of(const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Eight images with one non-zero pixel each, labels 0 to 3 twice; `pixels` are those of samples 0
/// to 3 and of samples 4 to 7, which are the batches of ranks 0 and 1.
MemoryDataset two_batches(const std::array<float, 2>& pixels) {
  MemorySamples samples{.image = {1, 2, 2}, .classes = 4};
  for (std::int32_t i = 0; i < 8; ++i) {
    samples.floats.insert(samples.floats.end(), {pixels[i < 4 ? 0 : 1], 0, 0, 0});
    samples.labels.push_back(i % 4);
  }
  return MemoryDataset(std::move(samples));
}

std::vector<TrainedRank> train_on(const Dataset& set, std::int64_t updates) {
  return train_on_ranks(2, {.network = "{input: [1, 2, 2], layers: [dense: 4, softmax]}",
                            .target = reference_target(Precision::fp32),
                            .batch = 4,
                            .updates = updates,
                            .options = {},
                            .set = &set});
}

}  // namespace

TEST_CASE(
    "without shards 1, 2 and 3 ranks agree to rounding, and the ranks of a run are bit-identical") {
  const TrainedRank alone = train_on_ranks(1, training_of(1, false))[0];
  CHECK(alone.updates.back().totals.loss < 0.8 * alone.updates.front().totals.loss);
  for (const int ranks : {2, 3}) {
    CAPTURE(ranks);
    const std::vector<TrainedRank> together = train_on_ranks(ranks, training_of(ranks, false));
    // In double, rounding grows to about 1e-13 in 20 steps.
    CHECK(largest_difference(doubles_of(together[0].weights), doubles_of(alone.weights)) < 1e-9);
    CHECK(largest_difference(together[0].numbers(), alone.numbers()) < 1e-9);
    CHECK(largest_difference({together[0].evaluation.loss}, {alone.evaluation.loss}) < 1e-9);
    for (const TrainedRank& rank : together) CHECK(differences(rank, together[0]) == "");
    CHECK_FALSE(differences(together[0], alone).empty());
  }
}

TEST_CASE("without shards float32 training on 1 and on 2 ranks differs in bits") {
  const TrainedRank alone = train_on_ranks(1, training_of(1, true))[0];
  const TrainedRank together = train_on_ranks(2, training_of(2, true))[0];
  CHECK(differences(together, alone) == "weights, optimizer state, updates, evaluation");
}

TEST_CASE("a loss that is not finite on one rank withholds the step on both") {
  const std::vector<TrainedRank> begin = train_on(two_batches({1, 1}), 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // At 3e38 the scores are still finite, their differences are not: only the loss shows it.
  for (const float pixel : {nan, 3e38f}) {
    CAPTURE(pixel);
    const std::vector<TrainedRank> ranks = train_on(two_batches({1, pixel}), 2);
    for (const TrainedRank& rank : ranks) {
      CHECK(rank.weights == begin[0].weights);
      CHECK(rank.slots == begin[0].slots);
      for (const StepResult& update : rank.updates) {
        CHECK_FALSE(update.finite);
        CHECK_FALSE(std::isfinite(update.totals.loss));
        CHECK(std::isfinite(update.gradient_norm) == std::isfinite(pixel));
      }
    }
  }
  for (const TrainedRank& rank : train_on(two_batches({1, 1}), 2)) {
    CHECK(rank.updates[0].finite);
    CHECK(rank.weights != begin[0].weights);
  }
}
