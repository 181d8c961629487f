// All-reduces of a step: what is summed, in which type, and bit-identical results on all ranks.
#include "train/rank_sum.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "compute/executor.h"
#include "no_tree_ranks.h"
#include "rank_training.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kParameters = 1031, kStatistics = 17, kResults = 3;  // 1048 = 8 * 131

/// A rank's blocks, drawn with its number as seed.
struct Sums {
  std::vector<float> gradients;  // followed by the statistics
  std::vector<double> results;
  double more = 0;  // summed with the results
  bool operator==(const Sums&) const = default;
};

/// Magnitudes from 2^-20 to 2^4: including values that f16 represents with fewer bits.
double draw(int rank, std::int64_t i) {
  const Random4 words = random4(7, RandomStream::synthetic, 0, static_cast<std::uint32_t>(rank),
                                static_cast<std::uint64_t>(i));
  const double exponent = static_cast<double>(words.word[1] % 25) - 20;
  return (2.0 * uniform01(words.word[0]) - 1) * std::exp2(exponent);
}

Sums blocks_of(int rank) {
  Sums blocks;
  for (std::int64_t i = 0; i < kParameters + kStatistics; ++i) {
    blocks.gradients.push_back(static_cast<float>(draw(rank, i)));
  }
  for (std::int64_t i = 0; i < kResults; ++i) blocks.results.push_back(draw(rank, 10'000 + i));
  blocks.more = draw(rank, 20'000);
  return blocks;
}

/// The blocks of each rank after a number of all-reduces, each starting with the result of the
/// previous one. Sums in tree order are by ranks without an order of their own.
std::vector<Sums> sum_on(int ranks, const RankSumOptions& options, int times = 1) {
  std::vector<Sums> all(static_cast<std::size_t>(ranks));
  const auto outcomes =
      testing::run_gloo(testing::StoreKind::memory, ranks, [&](Communicator& group) {
        Sums& own = all[static_cast<std::size_t>(group.rank())];
        own = blocks_of(group.rank());
        const auto device = make_cpu_device();
        const auto queue = device->make_queue();
        const auto executors = make_reference_executors();
        const auto launches = make_cpu_update_launches(1);
        NoTreeRanks no_tree(group);
        RankSum sum({*device, *queue, *executors, *launches},
                    options.in_tree ? static_cast<Communicator&>(no_tree) : group,
                    {.gradients = own.gradients.data(),
                     .parameters = kParameters,
                     .statistics = kStatistics,
                     .results = own.results.data(),
                     .result_count = kResults},
                    options);
        sum.sum_with_results({&own.more, 1, DType::f64});
        for (int i = 0; i < times; ++i) sum.finish();
      });
  REQUIRE(outcomes == testing::Outcomes(static_cast<std::size_t>(ranks)));
  return all;
}

/// The largest excess of |sum - exact| over its bound, for a type with unit roundoff `u` and
/// subnormals of spacing `least`. A rank's value is rounded once (u |x|), the values are added in
/// float (ranks * 2^-24 of the sum of their sizes), and the sum is rounded once (u |sum|, which is
/// at most u (1 + u) times the sum of sizes); below the normal numbers each rounding is off by
/// least / 2.
double excess(const std::vector<float>& sum, int ranks, double u, double least) {
  double worst = -1;
  for (std::int64_t i = 0; i < kParameters; ++i) {
    double exact = 0, sizes = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const double value = static_cast<float>(draw(rank, i));
      exact += value;
      sizes += std::abs(value);
    }
    const double bound =
        sizes * (u * (2 + u) + ranks * 0x1p-24 * (1 + u)) + (ranks + 1) * least / 2;
    worst = std::max(worst, std::abs(sum[static_cast<std::size_t>(i)] - exact) - bound);
  }
  return worst;
}

std::vector<float> tail_of(const Sums& sums) {
  return {sums.gradients.begin() + kParameters, sums.gradients.end()};
}

RankTraining training_with(DType transport, LossScale scale = {}) {
  return {.target = reference_target(Precision::fp32),
          .batch = 6,
          .options = {.clip_norm = 0.5, .loss_scale = scale, .transport = transport}};
}

}  // namespace

TEST_CASE("gradients sent in 16 bits are summed within their rounding, equal on all ranks") {
  for (const int ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    const std::vector<Sums> whole = sum_on(ranks, {});
    const std::vector<Sums> bf16 = sum_on(ranks, {.transport = DType::bf16});
    const std::vector<Sums> f16 = sum_on(ranks, {.transport = DType::f16});
    CHECK(excess(whole[0].gradients, ranks, 0, 0) <= 0);
    CHECK(excess(bf16[0].gradients, ranks, 0x1p-8, 0) <= 0);
    CHECK(excess(f16[0].gradients, ranks, 0x1p-11, 0x1p-24) <= 0);
    // The bounds distinguish the types.
    CHECK(excess(bf16[0].gradients, ranks, 0x1p-11, 0x1p-24) > 0);
    CHECK(excess(f16[0].gradients, ranks, 0, 0) > 0);
    for (const auto* sums : {&whole, &bf16, &f16}) {
      for (const Sums& rank : *sums) CHECK(rank == sums->front());
      // Statistics and results are sent as they are.
      CHECK(tail_of(sums->front()) == tail_of(whole[0]));
      CHECK(sums->front().results == whole[0].results);
      CHECK(sums->front().more == whole[0].more);
    }
    double more = 0;
    for (int rank = 0; rank < ranks; ++rank) more += draw(rank, 20'000);
    CHECK(whole[0].more == doctest::Approx(more));
  }
}

TEST_CASE("one rank sums nothing and rounds nothing") {
  for (const DType transport : {DType::f32, DType::bf16, DType::f16}) {
    CHECK(sum_on(1, {.transport = transport})[0] == blocks_of(0));
  }
}

TEST_CASE("the sums of ranks that exchange slices are bit-identical to those of Gloo's tree") {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    CAPTURE(ranks);
    const std::vector<Sums> expected = sum_on(ranks, {}, 2);
    const std::vector<Sums> exchanged = sum_on(ranks, {.in_tree = true}, 2);
    for (const Sums& rank : exchanged) CHECK(rank == expected[0]);
  }
  // Includes sizes that are divisible into slices and sizes that are not.
  CHECK((kParameters + kStatistics) % 8 == 0);
  CHECK((kParameters + kStatistics) % 5 != 0);
  CHECK(kResults % 2 != 0);
}

TEST_CASE("what is summed with the results may be no larger than the other blocks") {
  const auto outcomes = testing::run_gloo(testing::StoreKind::memory, 2, [](Communicator& group) {
    const auto device = make_cpu_device();
    const auto queue = device->make_queue();
    const auto executors = make_reference_executors();
    const auto launches = make_cpu_update_launches(1);
    std::vector<float> gradients(10);
    std::vector<double> results(3), more(100);
    NoTreeRanks no_tree(group);
    RankSum sum({*device, *queue, *executors, *launches}, no_tree,
                {.gradients = gradients.data(),
                 .parameters = 10,
                 .results = results.data(),
                 .result_count = 3},
                {.in_tree = true});
    CHECK_THROWS_AS(sum.sum_with_results({more.data(), 100, DType::f64}), Error);
    sum.sum_with_results({more.data(), 3, DType::f64});
    sum.finish();
  });
  CHECK(outcomes == testing::Outcomes(2));
}

TEST_CASE("a second all-reduce starts with the current values of the ranks") {
  const std::vector<Sums> once = sum_on(2, {.transport = DType::bf16}),
                          twice = sum_on(2, {.transport = DType::bf16}, 2);
  for (std::size_t i = 0; i < kParameters; ++i) {
    CHECK(twice[0].gradients[i] == 2 * once[0].gradients[i]);  // exact in bf16
  }
  CHECK(twice[1] == twice[0]);
}

TEST_CASE("training with 16-bit gradients learns, ranks stay bit-identical, and differ from f32") {
  const std::vector<TrainedRank> whole = train_on_ranks(2, training_with(DType::f32));
  for (const DType transport : {DType::bf16, DType::f16}) {
    CAPTURE(name_of(transport));
    const std::vector<TrainedRank> ranks = train_on_ranks(2, training_with(transport));
    CHECK(differences(ranks[1], ranks[0]) == "");
    CHECK(differences(ranks[0], whole[0]) ==
          "weights, optimizer state, running statistics, updates, evaluation");
    CHECK(ranks[0].updates.back().totals.loss < 0.8 * ranks[0].updates.front().totals.loss);
    const TrainedRank alone = train_on_ranks(1, training_with(transport))[0];
    CHECK(differences(alone, train_on_ranks(1, training_with(DType::f32))[0]) == "");
  }
}

TEST_CASE("gradients that overflow in an fp16 all-reduce skip the step with a loss scale") {
  const LossScale scale{.start = LossScale::kMost, .dynamic = true, .growth = 100};
  const std::vector<TrainedRank> ranks = train_on_ranks(2, training_with(DType::f16, scale));
  CHECK(differences(ranks[1], ranks[0]) == "");
  CHECK(ranks[0].updates.front().skipped);
  CHECK_FALSE(ranks[0].updates.back().skipped);
  // In float nothing overflows.
  CHECK_FALSE(train_on_ranks(2, training_with(DType::f32, scale))[0].updates.front().skipped);
}
