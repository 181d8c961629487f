// Batches of which no sample counts: steps without an update.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "labelled_set.h"
#include "rank_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int32_t kIgnored = 3;

/// Without random draws, which depend on a sample's place in its set.
constexpr const char* kPlainNetwork = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 6, kernel: 3, l2: 1e-3}
  - bn
  - relu
  - max_pool: 2
  - dense: 4
  - softmax
)";

/// Samples 0 to `size` - 1, those of every second `block` ignored; with `drop` without these.
LabelledSet every_second_block(std::int64_t size, std::int64_t block, bool drop) {
  std::vector<LabelledSet::Sample> samples;
  for (std::int64_t i = 0; i < size; ++i) {
    const bool ignored = i / block % 2 == 1;
    if (ignored && drop) continue;
    samples.push_back({i, ignored ? kIgnored : static_cast<std::int32_t>(i % 3)});
  }
  return LabelledSet(samples);
}

struct Rule {
  const char* name;
  const char* keys;
};

RankTraining training_of(const LabelledSet& set, const Rule& rule, bool onednn) {
  return {.network = kPlainNetwork,
          .target = onednn ? cpu_target(processor_has_avx512()) : reference_target(Precision::fp32),
          .onednn = onednn,
          .batch = 2,
          .set = &set,
          .optimizer = rule.name,
          .optimizer_keys = rule.keys,
          .average = AverageOptions{.rule = {.decay = 0.5, .warmup = true}},
          .weights = ClassWeightPolicy{.ignored = kIgnored}};
}

void require_same_state(const TrainedRank& a, const TrainedRank& b) {
  CHECK(a.weights == b.weights);
  CHECK(a.slots == b.slots);
  CHECK(a.running == b.running);
  CHECK(a.averaged == b.averaged);
}

/// Decay, momentum, a count of steps, a running number.
constexpr Rule kRules[] = {{"sgd", "{lr: 0.02, momentum: 0.9, weight_decay: 1e-3, decay: 0.1}"},
                           {"adamw", "{lr: 0.01}"},
                           {"nadam", "{lr: 0.01}"}};

std::int64_t skipped_of(const TrainedRank& trained) {
  return std::ranges::count(trained.updates, true, &StepResult::skipped);
}

}  // namespace

TEST_CASE("steps of which no sample counts change nothing: the others train as if alone") {
  for (const Rule& rule : kRules) {
    for (const bool onednn : {false, true}) {
      for (const int ranks : {1, 2}) {
        CAPTURE(rule.name);
        CAPTURE(onednn);
        CAPTURE(ranks);
        const LabelledSet all = every_second_block(16 * ranks, 2 * ranks, false);
        const LabelledSet some = every_second_block(16 * ranks, 2 * ranks, true);
        RankTraining training = training_of(all, rule, onednn);
        training.updates = 8;
        const TrainedRank with = train_on_ranks(ranks, training)[0];
        training.set = &some;
        training.updates = 4;
        const TrainedRank without = train_on_ranks(ranks, training)[0];
        require_same_state(with, without);
        CHECK(skipped_of(with) == 4);
        CHECK(skipped_of(without) == 0);
        for (std::size_t i = 0; i < with.updates.size(); ++i) {
          const StepResult& step = with.updates[i];
          CHECK(step.finite);
          CHECK(step.skipped == (i % 2 == 1));
          if (step.skipped) CHECK(step.gradient_norm == 0);
          if (!step.skipped) CHECK(step.totals.loss == without.updates[i / 2].totals.loss);
        }
      }
    }
  }
}

TEST_CASE("a batch counts if one rank has a sample that counts") {
  // Two ranks with two samples each, of which the second rank's are ignored.
  const LabelledSet set = every_second_block(16, 2, false);
  RankTraining training = training_of(set, kRules[0], false);
  training.updates = 4;
  const TrainedRank trained = train_on_ranks(2, training)[0];
  CHECK(skipped_of(trained) == 0);
}

TEST_CASE("a micro-batch of which no sample counts is left out of the step, statistics included") {
  for (const Rule& rule : kRules) {
    for (const std::int64_t shards : {0, 2}) {
      for (const int ranks : {1, 2}) {
        CAPTURE(rule.name);
        CAPTURE(shards);
        CAPTURE(ranks);
        const std::int64_t micro_batch = shards > 0 ? 4 : 2 * ranks;
        const LabelledSet all = every_second_block(8 * micro_batch, micro_batch, false);
        const LabelledSet some = every_second_block(8 * micro_batch, micro_batch, true);
        RankTraining training = training_of(all, rule, false);
        training.options = {.clip_norm = 0.5, .accumulate = 2, .shards = shards};
        training.updates = 4;
        const TrainedRank with = train_on_ranks(ranks, training)[0];
        training.set = &some;
        training.options.accumulate = 1;
        const TrainedRank without = train_on_ranks(ranks, training)[0];
        require_same_state(with, without);
        CHECK(skipped_of(with) == 0);
      }
    }
  }
}

TEST_CASE("the first micro-batch may be the one that is left out, and all of them") {
  // Steps of two micro-batches of two samples: ignored and not, then both, then none.
  std::vector<LabelledSet::Sample> samples, counted;
  for (std::int64_t i = 0; i < 12; ++i) {
    const bool ignored = i < 2 || (i >= 4 && i < 8);
    samples.push_back({i, ignored ? kIgnored : static_cast<std::int32_t>(i % 3)});
  }
  const LabelledSet set(samples);
  RankTraining training = training_of(set, kRules[1], false);
  training.options = {.accumulate = 2};
  training.updates = 3;
  const TrainedRank trained = train_on_ranks(1, training)[0];
  CHECK_FALSE(trained.updates[0].skipped);
  CHECK(trained.updates[1].skipped);
  CHECK_FALSE(trained.updates[2].skipped);
  // The same steps, of which the first has its one micro-batch twice: a mean and a sum of equals.
  for (const std::int64_t i : {2, 3, 2, 3, 8, 9, 10, 11}) counted.push_back(samples[i]);
  const LabelledSet twice(counted);
  training.set = &twice;
  training.updates = 2;
  require_same_state(trained, train_on_ranks(1, training)[0]);
}

TEST_CASE("steps without a sample that counts leave a dynamic loss scale alone") {
  const LabelledSet all = every_second_block(16, 2, false);
  RankTraining training = training_of(all, kRules[1], false);
  training.target = reference_target(Precision::fp16);
  training.options = {.loss_scale = {.start = 4, .dynamic = true, .growth = 2}};
  training.updates = 8;
  std::vector<double> scales;
  const TrainedRank trained = train_on_ranks(1, training)[0];
  for (const StepResult& step : trained.updates) scales.push_back(step.loss_scale);
  CHECK(scales == std::vector<double>{4, 4, 4, 8, 8, 8, 8, 16});
}
