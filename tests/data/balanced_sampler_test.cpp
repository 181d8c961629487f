// Epochs in which classes are about equally frequent.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/philox.h"
#include "data/augment/flip.h"
#include "data/feed/feeder.h"
#include "data/sets/epoch_order.h"
#include "data/sets/subset.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Samples = std::vector<std::int64_t>;

/// 700 samples of class 0, 200 of class 1, none of class 2, 90 of class 3, and 10 without a class.
std::vector<std::int32_t> uneven_labels() {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 1000; ++i) {
    labels.push_back(i % 10 < 7 ? 0 : i % 10 < 9 ? 1 : i < 900 ? 3 : -1);
  }
  return labels;
}

Samples epoch_of(double strength, const OrderOptions& options) {
  return BalancedSampler(uneven_labels(), 4, strength).epoch(options);
}

OrderOptions epoch_numbered(std::uint32_t epoch, std::int64_t block = 0) {
  return {.seed = 5, .epoch = epoch, .size = 1000, .block = block};
}

/// How many of the samples have each label.
std::map<std::int32_t, std::int64_t> counts_of(const Samples& samples) {
  const std::vector<std::int32_t> labels = uneven_labels();
  std::map<std::int32_t, std::int64_t> counts;
  for (const std::int64_t one : samples) {
    ++counts[labels.at(static_cast<std::size_t>(index_of_drawn(one)))];
  }
  return counts;
}

/// Labels 0 to 3, of which 0 is most frequent, of 61 samples.
class UnevenSet final : public Dataset {
 public:
  explicit UnevenSet(std::int64_t block = 0) : block_(block) {}
  [[nodiscard]] std::int64_t size() const override { return 61; }
  [[nodiscard]] Shape image_shape() const override { return {1, 1, 2}; }
  [[nodiscard]] std::int64_t classes() const override { return 4; }
  void read(std::int64_t index, float* image) const override {
    image[0] = static_cast<float>(index);
    image[1] = static_cast<float>(-index);
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return index % 10 < 7 ? 0 : static_cast<std::int32_t>(index % 10 - 6);
  }
  [[nodiscard]] std::string fingerprint() const override { return ""; }
  [[nodiscard]] std::int64_t block() const override { return block_; }

 private:
  std::int64_t block_;
};

std::shared_ptr<const BalancedSampler> sampler_for(const Dataset& set) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < set.size(); ++i) labels.push_back(set.label(i));
  return std::make_shared<BalancedSampler>(labels, set.classes(), 1.0);
}

Pipeline flipping() {
  std::vector<std::shared_ptr<const Augmentation>> augment;
  augment.push_back(std::make_unique<Flip>(Flip::Axis::horizontal, 0.5));
  return Pipeline({1, 1, 2}, std::move(augment), {});
}

/// The drawn samples of an epoch, shard by shard, of `ranks` ranks with `shards` shards each.
Samples fed(const Dataset& set, std::int64_t ranks, std::int64_t shards, int workers,
            std::int64_t first = 0) {
  const Pipeline pipeline = flipping();
  std::vector<Samples> of_rank;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Feeder feeder(set, pipeline,
                  {.batch = 3,
                   .seed = 8,
                   .workers = workers,
                   .sampler = sampler_for(set),
                   .rank = rank,
                   .ranks = ranks,
                   .shards = shards});
    feeder.start(2, first);
    Samples mine;
    for (std::int64_t i = first; i < feeder.batches_per_epoch(); ++i) {
      const Batch& batch = feeder.next();
      mine.insert(mine.end(), batch.sample_index.begin(), batch.sample_index.end());
    }
    of_rank.push_back(mine);
  }
  Samples all;
  const std::size_t slice = static_cast<std::size_t>(3 * shards);
  for (std::size_t at = 0; at < of_rank[0].size(); at += slice) {
    for (const Samples& mine : of_rank) {
      all.insert(all.end(), mine.begin() + static_cast<std::ptrdiff_t>(at),
                 mine.begin() + static_cast<std::ptrdiff_t>(at + slice));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("classes share an epoch in proportion to count^(1 - strength)") {
  struct Case {
    double strength;
    double shares[3];  // shares of the classes with samples
  };
  const double half = std::sqrt(700.0) + std::sqrt(200.0) + std::sqrt(90.0);
  const Case cases[] = {{1, {1000 / 3.0, 1000 / 3.0, 1000 / 3.0}},
                        {0, {700 / 0.99, 200 / 0.99, 90 / 0.99}},
                        {0.5,
                         {1000 * std::sqrt(700.0) / half, 1000 * std::sqrt(200.0) / half,
                          1000 * std::sqrt(90.0) / half}}};
  for (const Case& one : cases) {
    CAPTURE(one.strength);
    double mean[4] = {};
    for (std::uint32_t epoch = 0; epoch < 200; ++epoch) {
      const Samples samples = epoch_of(one.strength, epoch_numbered(epoch));
      REQUIRE(samples.size() == 1000);
      auto counts = counts_of(samples);
      REQUIRE(counts[-1] == 0);
      REQUIRE(counts[2] == 0);
      for (int c = 0; c < 3; ++c) {
        const int label = c == 2 ? 3 : c;
        REQUIRE(std::abs(static_cast<double>(counts[label]) - one.shares[c]) < 1);
        mean[c] += static_cast<double>(counts[label]) / 200;
      }
    }
    // A share's whole numbers have a deviation of at most 1/2.
    for (int c = 0; c < 3; ++c) CHECK(mean[c] == doctest::Approx(one.shares[c]).epsilon(2e-3));
  }
}

TEST_CASE("half a sample is rounded by a draw of the epoch") {
  const std::vector<std::int32_t> labels{0, 0, 0, 1, 1, 1, 1};
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    const Samples samples =
        BalancedSampler(labels, 2, 1).epoch({.seed = 5, .epoch = epoch, .size = 7});
    const bool up = random4(5, RandomStream::order, epoch, 10, 0).word[1] >= 1U << 31;
    const auto first = [](std::int64_t sample) { return index_of_drawn(sample) < 3; };
    CHECK(std::ranges::count_if(samples, first) == (up ? 4 : 3));
  }
}

TEST_CASE("within a class samples are taken equally often, but for one") {
  const Samples samples = epoch_of(1, epoch_numbered(3));
  std::map<std::int64_t, std::int64_t> taken;
  for (const std::int64_t one : samples) ++taken[index_of_drawn(one)];
  const std::vector<std::int32_t> labels = uneven_labels();
  std::map<std::int32_t, std::set<std::int64_t>> numbers;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    numbers[labels[i]].insert(taken[static_cast<std::int64_t>(i)]);
  }
  CHECK(numbers[0] == std::set<std::int64_t>{0, 1});
  CHECK(numbers[1] == std::set<std::int64_t>{1, 2});
  CHECK(numbers[3] == std::set<std::int64_t>{3, 4});
  CHECK(numbers[-1] == std::set<std::int64_t>{0});
}

TEST_CASE("which samples of a class are taken changes from epoch to epoch, evenly") {
  std::vector<std::int64_t> taken(1000, 0);
  constexpr int kEpochs = 400;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    for (const std::int64_t one : epoch_of(1, epoch_numbered(epoch))) {
      ++taken[static_cast<std::size_t>(index_of_drawn(one))];
    }
  }
  const double mean = kEpochs * (1000 / 3.0) / 700;  // samples of class 0
  const double deviation = std::sqrt(mean * (1 - mean / kEpochs));
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (uneven_labels()[i] != 0) continue;
    CHECK(std::abs(static_cast<double>(taken[i]) - mean) < 5 * deviation);
  }
}

TEST_CASE("each time that an epoch takes a sample is another drawn sample") {
  for (const std::int64_t block : {0, 7}) {
    const Samples samples = epoch_of(1, epoch_numbered(1, block));
    CHECK(std::set<std::int64_t>(samples.begin(), samples.end()).size() == samples.size());
  }
}

TEST_CASE("a balanced epoch is a function of seed and epoch alone") {
  const BalancedSampler sampler(uneven_labels(), 4, 0.7);
  for (const std::int64_t block : {0, 9}) {
    const Samples samples = sampler.epoch(epoch_numbered(4, block));
    CHECK(sampler.epoch(epoch_numbered(4, block)) == samples);
    CHECK(epoch_of(0.7, epoch_numbered(4, block)) == samples);
    CHECK(sampler.epoch(epoch_numbered(5, block)) != samples);
    OrderOptions other = epoch_numbered(4, block);
    other.seed = 6;
    CHECK(sampler.epoch(other) != samples);
  }
}

TEST_CASE("a balanced order of a known seed does not change") {
  // Stored once; a change would make runs of older versions resume with different samples.
  const std::vector<std::int32_t> labels{0, 0, 0, 0, 0, 1, 1, 2};
  const BalancedSampler sampler(labels, 3, 1);
  Samples samples;
  for (const std::int64_t one : sampler.epoch({.seed = 42, .epoch = 0, .size = 8})) {
    samples.push_back(index_of_drawn(one));
  }
  CHECK(samples == Samples{6, 7, 5, 4, 5, 1, 7, 7});
}

TEST_CASE("a strength of 0, and a balanced set, have the plain order") {
  std::vector<std::int32_t> labels = uneven_labels();
  for (std::int32_t& label : labels) label = std::max(label, 0);
  const BalancedSampler none(labels, 4, 0);
  CHECK(none.epoch(epoch_numbered(2)) == epoch_order(5, 2, 1000, true));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 4);
  const BalancedSampler even(labels, 4, 1);
  CHECK(even.epoch(epoch_numbered(2)) == epoch_order(5, 2, 1000, true));
}

TEST_CASE("a set in blocks is read a window of blocks at a time") {
  constexpr std::int64_t kBlock = 10;
  const Samples samples = epoch_of(1, epoch_numbered(0, kBlock));
  std::set<std::int64_t> closed, open;
  for (const std::int64_t one : samples) {
    const std::int64_t block = index_of_drawn(one) / kBlock;
    REQUIRE_FALSE(closed.contains(block));
    open.insert(block);
    if (open.size() <= EpochOrder::kWindowBlocks) continue;
    // The block that opens the next window closes the last one.
    open.erase(block);
    closed.insert(open.begin(), open.end());
    open = {block};
  }
}

TEST_CASE("ranks, shards, workers and a resume take the same balanced samples") {
  for (const std::int64_t block : {0, 5}) {
    const UnevenSet set(block);
    const Samples one = fed(set, 1, 4, 0);
    CHECK(one.size() == 60);
    CHECK(fed(set, 2, 2, 3) == one);
    CHECK(fed(set, 4, 1, 1) == one);
    CHECK(fed(set, 1, 4, 2, 8) == Samples(one.begin() + 8 * 3, one.end()));
  }
}

TEST_CASE("repeats of a sample are augmented by draws of their own, and read the same sample") {
  const UnevenSet set;
  const Pipeline pipeline = flipping();
  Feeder feeder(set, pipeline, {.batch = 61, .seed = 8, .workers = 0, .sampler = sampler_for(set)});
  std::set<std::int64_t> flipped, straight;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    feeder.start(epoch);
    const Batch& batch = feeder.next();
    std::set<std::int64_t> flipped_now, straight_now;
    for (std::size_t i = 0; i < 61; ++i) {
      const std::int64_t index = index_of_drawn(batch.sample_index[i]);
      REQUIRE(std::abs(batch.images[2 * i]) == static_cast<float>(index));
      CHECK(test::labels_of(batch)[i] == set.label(index));
      (batch.images[2 * i] > 0 ? straight_now : flipped_now).insert(index);
    }
    std::ranges::set_intersection(flipped_now, straight_now, std::inserter(flipped, flipped.end()));
  }
  CHECK_FALSE(flipped.empty());  // samples that one epoch has both ways
}

TEST_CASE("a part of a set is balanced by its own labels") {
  const UnevenSet whole;
  for (const Part part : {Part::train, Part::val}) {
    const Samples indices = part_of(whole, {.fraction = 0.4, .seed = 3}, part);
    const auto set = subset(std::make_unique<UnevenSet>(), indices);
    std::map<std::int32_t, std::int64_t> counts;
    const Samples samples = sampler_for(*set)->epoch({.seed = 1, .epoch = 0, .size = set->size()});
    for (const std::int64_t one : samples) ++counts[set->label(index_of_drawn(one))];
    REQUIRE(counts.size() == 4);
    const double share = static_cast<double>(set->size()) / 4;
    for (const auto& [label, count] : counts) {
      CHECK(std::abs(static_cast<double>(count) - share) < 1);
    }
  }
}

}  // namespace trainyard
