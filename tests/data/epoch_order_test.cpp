// The order of an epoch for sets that are read in blocks.
#include "data/sets/epoch_order.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "data/feed/feeder.h"
#include "helpers.h"

namespace trainyard {

namespace {

std::vector<std::int64_t> samples_of(const OrderOptions& options) {
  const EpochOrder order(options);
  std::vector<std::int64_t> samples;
  for (std::int64_t i = 0; i < options.size; ++i) samples.push_back(order[i]);
  return samples;
}

bool permutes(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    if (values[static_cast<std::size_t>(i)] != i) return false;
  }
  return true;
}

/// The blocks whose first sample comes before, and whose last one comes after a position: the most
/// of them at any position.
std::size_t most_open_blocks(const std::vector<std::int64_t>& samples, std::int64_t block) {
  std::vector<std::int64_t> left(samples.size() / static_cast<std::size_t>(block) + 1);
  for (const std::int64_t sample : samples) ++left[static_cast<std::size_t>(sample / block)];
  std::set<std::int64_t> open;
  std::size_t most = 0;
  for (const std::int64_t sample : samples) {
    open.insert(sample / block);
    most = std::max(most, open.size());
    if (--left[static_cast<std::size_t>(sample / block)] == 0) open.erase(sample / block);
  }
  return most;
}

/// 16 bytes of samples in blocks.
class BlockedSet final : public Dataset {
 public:
  [[nodiscard]] std::int64_t size() const override { return 517; }
  [[nodiscard]] Shape image_shape() const override { return {1, 1, 1}; }
  [[nodiscard]] std::int64_t classes() const override { return 1; }
  void read(std::int64_t index, float* image) const override { *image = static_cast<float>(index); }
  [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return ""; }
  [[nodiscard]] std::int64_t block() const override { return 5; }
};

}  // namespace

TEST_CASE("an index shuffle is a permutation for every count, and differs by seed, epoch, stage") {
  for (std::int64_t count = 1; count < 300; ++count) {
    CAPTURE(count);
    const IndexShuffle shuffle{3, 1, 0};
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(shuffle(i, count));
    REQUIRE(permutes(values));
  }
  const auto first_ten = [](const IndexShuffle& shuffle) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 10; ++i) values.push_back(shuffle(i, 1000));
    return values;
  };
  CHECK(first_ten({3, 1, 0}) == first_ten({3, 1, 0}));
  CHECK(first_ten({3, 1, 0}) != first_ten({4, 1, 0}));
  CHECK(first_ten({3, 1, 0}) != first_ten({3, 2, 0}));
  CHECK(first_ten({3, 1, 0}) != first_ten({3, 1, 1}));
}

TEST_CASE("an index shuffle of a known seed does not change") {
  const auto shuffled = [](std::int64_t count) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(IndexShuffle{3, 1, 0}(i, count));
    return values;
  };
  CHECK(shuffled(4) == std::vector<std::int64_t>{0, 2, 3, 1});
  CHECK(shuffled(10) == std::vector<std::int64_t>{7, 2, 0, 8, 1, 9, 6, 5, 4, 3});
}

TEST_CASE("every place of an index shuffle receives every value about equally often") {
  constexpr std::int64_t kCount = 10, kDraws = 20'000;
  std::vector<std::vector<int>> times(kCount, std::vector<int>(kCount));
  for (std::uint64_t stage = 0; stage < kDraws; ++stage) {
    const IndexShuffle shuffle{1, 0, stage};
    for (std::int64_t i = 0; i < kCount; ++i) {
      ++times[static_cast<std::size_t>(i)][static_cast<std::size_t>(shuffle(i, kCount))];
    }
  }
  // 2000 expected with a standard deviation of 42; six of them for 100 cells.
  for (const auto& row : times) {
    for (const int count : row) CHECK(std::abs(count - 2000) < 255);
  }
}

TEST_CASE("an order by blocks is a permutation for every size and block") {
  for (const std::int64_t block : {1, 2, 3, 7, 64}) {
    for (const std::int64_t size : {1, 2, 15, 16, 17, 31, 48, 100, 333, 1025}) {
      for (const std::uint32_t epoch : {0u, 1u, 2u, 3u}) {
        CAPTURE(block);
        CAPTURE(size);
        CHECK(permutes(samples_of({.seed = 5, .epoch = epoch, .size = size, .block = block})));
      }
    }
  }
}

TEST_CASE("an order by blocks opens one window of blocks at a time") {
  for (const std::uint32_t epoch : {0u, 1u, 2u}) {
    const auto samples = samples_of({.seed = 1, .epoch = epoch, .size = 10'003, .block = 10});
    CHECK(most_open_blocks(samples, 10) <= EpochOrder::kWindowBlocks);
    CHECK_FALSE(std::is_sorted(samples.begin(), samples.begin() + 10));
  }
  const auto mixed = samples_of({.seed = 1, .size = 10'003});
  CHECK(most_open_blocks(mixed, 10) > 900);
}

TEST_CASE("an order by blocks of a known seed does not change") {
  // Computed once by a script from the definition; a change would make runs of older versions
  // resume with other samples.
  CHECK(samples_of({.seed = 42, .size = 8, .block = 3}) ==
        std::vector<std::int64_t>{4, 3, 6, 0, 1, 2, 7, 5});
}

TEST_CASE("repeats take pairs of the order in turn, each copy as another draw") {
  for (const std::int64_t block : {0, 8}) {
    const OrderOptions plain{.seed = 3, .epoch = 2, .size = 101, .block = block};
    OrderOptions repeated = plain;
    repeated.repeats = 4;
    const EpochOrder once(plain), order(repeated);
    for (std::int64_t position = 0; position < plain.size; ++position) {
      const std::int64_t pair = position / 8, copy = position % 8 / 2;
      CHECK(order[position] == drawn_sample(once[2 * pair + position % 2], copy));
    }
  }
}

TEST_CASE("an unshuffled order is the natural one with and without blocks") {
  for (const std::int64_t block : {0, 3}) {
    CHECK(samples_of({.size = 5, .block = block, .shuffle = false}) ==
          std::vector<std::int64_t>{0, 1, 2, 3, 4});
  }
}

TEST_CASE("ranks and a resume take the samples of a set in blocks that one rank takes") {
  const BlockedSet set;
  const Pipeline pipeline(Shape{1, 1, 1}, {}, {});
  const auto feeder_of = [&](std::int64_t batch, std::int64_t rank, std::int64_t ranks) {
    return std::make_unique<Feeder>(
        set, pipeline,
        FeederOptions{.batch = batch, .seed = 7, .workers = 2, .rank = rank, .ranks = ranks});
  };
  const auto alone = feeder_of(8, 0, 1), first = feeder_of(4, 0, 2), second = feeder_of(4, 1, 2);
  alone->start(3);
  first->start(3);
  second->start(3, 20);  // resumes inside the epoch
  for (std::int64_t step = 0; step < alone->batches_per_epoch(); ++step) {
    const auto all = alone->next().sample_index;
    const auto left = first->next().sample_index;
    CHECK(std::ranges::equal(all.first(4), left));
    if (step >= 20) CHECK(std::ranges::equal(all.last(4), second->next().sample_index));
  }
}

}  // namespace trainyard
