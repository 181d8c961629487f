// Which samples the ranks of a run take, for any number of ranks.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "data/augment/preprocess.h"
#include "data/feed/feeder.h"
#include "helpers.h"

namespace trainyard {
namespace {

/// One way to divide an epoch.
struct Cut {
  std::int64_t size = 1;   // samples of the set
  std::int64_t batch = 1;  // batch of a pass
  std::int64_t ranks = 1;
  std::int64_t shards = 1;  // shards of a rank
  std::uint32_t epoch = 0;
  [[nodiscard]] std::int64_t global() const { return batch * ranks * shards; }
};

/// Samples in the order of the passes of one rank.
using Order = std::vector<std::int64_t>;

Pipeline bare_pipeline() { return Pipeline(Shape{1, 1, 1}, {}, {}); }

Order order_of(const Dataset& set, const Cut& cut, std::int64_t rank) {
  static const Pipeline pipeline = bare_pipeline();
  Feeder feeder(set, pipeline,
                {.batch = cut.batch,
                 .seed = 7,
                 .workers = 0,
                 .rank = rank,
                 .ranks = cut.ranks,
                 .shards = cut.shards});
  feeder.start(cut.epoch);
  Order order;
  for (std::int64_t pass = 0; pass < feeder.batches_per_epoch(); ++pass) {
    const auto samples = feeder.next().sample_index;
    order.insert(order.end(), samples.begin(), samples.end());
  }
  return order;
}

/// The samples of every step by the position of their shard: rank after rank within a step.
Order joined(const std::vector<Order>& ranks, std::int64_t slice) {
  Order all;
  for (std::size_t begin = 0; begin < ranks[0].size(); begin += static_cast<std::size_t>(slice)) {
    for (const Order& order : ranks) {
      const auto first = order.begin() + static_cast<std::ptrdiff_t>(begin);
      all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(slice));
    }
  }
  return all;
}

class RandomCuts {
 public:
  Cut next() {
    Cut cut{.batch = between(1, 9), .ranks = std::int64_t{1} << between(0, 3)};
    cut.shards = std::int64_t{1} << between(0, 3);
    if (between(0, 3) == 0) {  // without shards any number of ranks will do
      cut.ranks = between(1, 9);
      cut.shards = 1;
    }
    cut.size = between(cut.global(), cut.global() + 150);
    cut.epoch = static_cast<std::uint32_t>(between(0, 1'000'000));
    return cut;
  }

 private:
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  std::mt19937_64 random_{20};
};

/// "" if all is well.
std::string fault_of(const Cut& cut, const Dataset& set) {
  std::vector<Order> ranks;
  for (std::int64_t rank = 0; rank < cut.ranks; ++rank) {
    ranks.push_back(order_of(set, cut, rank));
  }
  const std::int64_t slice = cut.batch * cut.shards;
  const std::int64_t steps = cut.size / cut.global();
  std::vector<int> taken(static_cast<std::size_t>(cut.size));
  for (const Order& order : ranks) {
    if (std::ssize(order) != steps * slice) return "ranks take different numbers of steps";
    for (const std::int64_t sample : order) ++taken[static_cast<std::size_t>(sample)];
  }
  std::int64_t distinct = 0;
  for (const int times : taken) {
    if (times > 1) return "a sample is taken twice";
    distinct += times;
  }
  if (distinct != steps * cut.global()) return "not steps x batch distinct samples";
  Cut alone = cut;
  alone.ranks = 1;
  alone.shards = cut.ranks * cut.shards;
  if (joined(ranks, slice) != order_of(set, alone, 0)) return "one rank takes other samples";
  return "";
}

}  // namespace

TEST_CASE("every number of ranks takes the same samples in the same shards, each at most once") {
  RandomCuts cuts;
  std::unique_ptr<MemoryDataset> set;
  int faults = 0;
  for (int i = 0; i < 10'000; ++i) {
    const Cut cut = cuts.next();
    set = test::random_bytes_set(cut.size, Shape{1, 1, 1});
    const std::string fault = fault_of(cut, *set);
    if (fault.empty()) continue;
    ++faults;
    CAPTURE(cut.size);
    CAPTURE(cut.batch);
    CAPTURE(cut.ranks);
    CAPTURE(cut.shards);
    CAPTURE(cut.epoch);
    CHECK(fault == "");
    if (faults == 10) break;
  }
  CHECK(faults == 0);
}

TEST_CASE("a rank's shards are consecutive, and a resume can begin with any of them") {
  const auto set = test::random_bytes_set(61, Shape{1, 1, 1});
  const Pipeline pipeline = bare_pipeline();
  FeederOptions options{
      .batch = 3, .shuffle = false, .workers = 1, .rank = 1, .ranks = 2, .shards = 2};
  Feeder feeder(*set, pipeline, options);
  CHECK(feeder.batches_per_epoch() == 10);  // 5 global batches of 12
  for (std::int64_t first = 0; first < 10; ++first) {
    feeder.start(0, first);
    for (std::int64_t pass = first; pass < 10; ++pass) {
      CHECK(feeder.next().sample_index[0] == pass / 2 * 12 + 6 + pass % 2 * 3);
    }
  }
}

TEST_CASE("a training set smaller than all shards together is refused") {
  const auto set = test::random_bytes_set(15, Shape{1, 1, 1});
  const Pipeline pipeline = bare_pipeline();
  const FeederOptions options{.batch = 2, .ranks = 2, .shards = 4};
  CHECK(
      test::message_of(ErrorKind::config, [&] { const Feeder feeder(*set, pipeline, options); }) ==
      "the training split has 15 samples, fewer than one global batch of 16; lower the batch or "
      "raise the split's limit");
}

}  // namespace trainyard
