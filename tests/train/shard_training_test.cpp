// `batch.shards`: bit-identical on any number of ranks.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/parallel.h"
#include "data/text/synthetic_sequences.h"
#include "every_op.h"
#include "rank_training.h"
#include "simulated_gpu.h"
#include "train/train_step.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A network with an output on its way.
constexpr const char* kTwoHeads = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 6, kernel: 3}
  - bn
  - relu:
    as: trunk
  - global_avg_pool
  - dense: 4
    as: aux
  - dropout: 0.25
    from: trunk
  - max_pool: 2
  - dense: 4
outputs: [aux]
)";

constexpr const char* kAll = "weights, optimizer state, running statistics, updates, evaluation";

RankTraining on_processor(std::int64_t accumulate) {
  return {.target = cpu_target(processor_has_avx512()),
          .onednn = true,
          .options = {.clip_norm = 0.5, .accumulate = accumulate, .shards = 4}};
}

/// Trains on 1, 2 and 4 ranks, which must agree in every byte, and returns the result of one rank.
TrainedRank require_equal_bytes(const RankTraining& training) {
  const TrainedRank alone = train_on_ranks(1, training)[0];
  for (const int ranks : {2, 4}) {
    CAPTURE(ranks);
    for (const TrainedRank& rank : train_on_ranks(ranks, training)) {
      CHECK(differences(rank, alone) == "");
    }
  }
  return alone;
}

void require_that_it_learnt(const TrainedRank& trained, std::int64_t samples) {
  REQUIRE(trained.updates.size() == 20);
  CHECK(trained.updates.back().totals.loss < 0.8 * trained.updates.front().totals.loss);
  for (const StepResult& update : trained.updates) {
    CHECK(update.finite);
    CHECK(update.totals.samples == samples);
  }
  CHECK(trained.evaluation.samples == 37);
}

}  // namespace

TEST_CASE("with shards, float32 training on 1, 2 and 4 ranks is bit-identical") {
  const TrainedRank trained = require_equal_bytes(on_processor(1));
  require_that_it_learnt(trained, 16);
  const auto clipped = std::count_if(trained.updates.begin(), trained.updates.end(),
                                     [](const StepResult& u) { return u.gradient_norm > 0.5; });
  CHECK(clipped > 0);

  RankTraining other = on_processor(1);
  other.seed = 12;
  CHECK(differences(train_on_ranks(1, other)[0], trained) == kAll);
}

TEST_CASE("with shards, every op is bit-identical on 1, 2 and 4 ranks") {
  RankTraining training = on_processor(1);
  training.network = kEveryOp;
  training.updates = 4;
  const TrainedRank trained = require_equal_bytes(training);
  CHECK(trained.updates.size() == 4);
  for (const StepResult& update : trained.updates) CHECK(update.finite);
}

TEST_CASE("with shards, every op of sequences is bit-identical on 1, 2 and 4 ranks") {
  SyntheticSequencesOptions options;
  options.steps = 7;
  options.vocabulary = 11;
  options.labels = SequenceLabels::every;
  const auto set = open_synthetic_sequences(options, 3);
  RankTraining training = on_processor(1);
  training.set = set.get();
  training.updates = 4;
  training.network = kEverySequenceOp;
  const TrainedRank trained = require_equal_bytes(training);
  CHECK(trained.updates.size() == 4);
  for (const StepResult& update : trained.updates) CHECK(update.finite);
  training.network = kMaskedSequence;
  training.weights = ClassWeightPolicy{.mask = kTokensField};
  const TrainedRank masked = require_equal_bytes(training);
  for (const StepResult& update : masked.updates) {
    CHECK(update.finite);
    const double counted = update.totals.metrics.back();
    CHECK(counted < 16 * 7);
    CHECK(counted > 16 * 5);
  }
}

TEST_CASE("with shards and accumulation, training on 1, 2 and 4 ranks is bit-identical") {
  const TrainedRank trained = require_equal_bytes(on_processor(2));
  require_that_it_learnt(trained, 32);
  CHECK(differences(train_on_ranks(1, on_processor(1))[0], trained) == kAll);
}

TEST_CASE("with shards and a dynamic loss scale, fp16 on 1, 2 and 4 ranks is bit-identical") {
  const RankTraining training{
      .target = reference_target(Precision::fp16),
      .options = {.clip_norm = 0.5,
                  .shards = 4,
                  .loss_scale = {.start = LossScale::kMost, .dynamic = true, .growth = 3}}};
  const TrainedRank trained = require_equal_bytes(training);
  const auto skipped = std::count_if(trained.updates.begin(), trained.updates.end(),
                                     [](const StepResult& u) { return u.skipped; });
  CHECK(skipped > 0);
  CHECK(skipped < 20);
}

TEST_CASE("with shards, two losses of weighted samples on 1, 2 and 4 ranks are bit-identical") {
  RankTraining training = on_processor(2);
  training.network = kTwoHeads;
  training.heads = {"{output: aux, weight: 0.3}"};
  training.weights = ClassWeightPolicy{.of_class = {2, 0.5, 1, 1}, .ignored = 3};
  const TrainedRank trained = require_equal_bytes(training);
  // The sums: accuracy, two losses, the weights, and the number of samples that have one.
  for (const StepResult& update : trained.updates) {
    const std::vector<double>& sums = update.totals.metrics;
    REQUIRE(sums.size() == 5);
    CHECK(update.totals.loss == doctest::Approx(sums[1] + 0.3 * sums[2]));
    CHECK(sums[4] < 32);
    CHECK(sums[4] > 8);
  }
  // 37 samples of four classes in turn: 10, 9, 9 and 9.
  CHECK(trained.evaluation.metrics[3] == 10 * 2 + 9 * 0.5 + 9);
  CHECK(trained.evaluation.metrics[4] == 28);
}

TEST_CASE(
    "mixed samples train to the same bytes on any number of ranks, and to others than whole") {
  RankTraining training = on_processor(1);
  training.mix = MixOptions{.mixup = 0.8, .cutmix = 1};
  const TrainedRank mixed = require_equal_bytes(training);
  CHECK(mixed.updates.back().totals.loss < mixed.updates.front().totals.loss);
  training.weights = ClassWeightPolicy{.of_class = {2, 0.5F, 0, 1}};
  static_cast<void>(require_equal_bytes(training));
  training.weights.reset();
  training.mix.reset();
  CHECK(train_on_ranks(1, training)[0].weights != mixed.weights);
}

TEST_CASE("weights that are all equal train as no weights, to rounding") {
  RankTraining training = on_processor(1);
  const TrainedRank plain = train_on_ranks(1, training)[0];
  training.weights = ClassWeightPolicy{.of_class = {1, 1, 1, 1}};
  const TrainedRank weighted = train_on_ranks(1, training)[0];
  CHECK(weighted.weights == plain.weights);  // samples / weights is 1
  training.weights = ClassWeightPolicy{.of_class = {4, 4, 4, 4}};
  training.updates = 1;
  const TrainedRank four = train_on_ranks(2, training)[0];
  training.weights.reset();
  // Powers of two round nothing.
  CHECK(four.weights == train_on_ranks(2, training)[0].weights);
}

TEST_CASE("a single shard per rank computes the same as training without shards") {
  // One rank with one shard computes what it computes without shards, accumulation included.
  for (const std::int64_t accumulate : {1, 2}) {
    RankTraining training = on_processor(accumulate);
    training.options.shards = 1;
    const TrainedRank sharded = train_on_ranks(1, training)[0];
    training.options.shards = 0;
    CHECK(differences(train_on_ranks(1, training)[0], sharded) == "");
  }
}

TEST_CASE(
    "eight shards of one rank are summed on a device whose memory is inaccessible to the host") {
  const auto executors = make_reference_executors();
  SimulatedGpu gpu(*executors);
  const Compute compute = gpu.compute();
  const auto ranks = make_single_communicator();
  const auto sgd = make_optimizer("sgd", "{lr: 0.01, momentum: 0.9}");
  const Target target = reference_target(Precision::fp32);
  Model model(training_graph(kSmallNetwork, 2), compute,
              {.target = target, .slots = 1, .accumulates = true, .shards = 8});
  model.initialize(1);
  TrainStep step(model, *ranks, *sgd, nullptr, {.base = 0.01}, {.accumulate = 2, .shards = 8});
  CHECK(step.passes() == 16);
  CHECK(step.samples() == 32);
  std::vector<float> images(2 * 3 * 9 * 7, 0.25f);
  const std::vector<std::int32_t> labels{1, 3};
  const std::vector<std::int64_t> index{0, 1};
  const Batch batch{.images = images,
                    .fields = {std::as_bytes(std::span(labels))},
                    .sample_index = index,
                    .valid = 2};
  for (int update = 0; update < 3; ++update) {
    images[0] = -1;
    step.run([&]() -> const Batch& {
      ++images[0];
      return batch;
    });
    const StepResult result = step.results().take_all().back();
    CHECK(result.finite);
    CHECK(result.totals.samples == 32);
    CHECK(result.totals.loss > 0);
  }
}
