// The order in which a rank sums its shards.
#include <doctest/doctest.h>

#include <bit>
#include <random>

#include "../ranks/tree_reference.h"
#include "base/error.h"
#include "ranks/comm/tree_sum.h"
#include "train/rank_sum.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kElements = 70;

/// Values of each shard, [shards][kElements], whose sums depend on the order.
template <class T>
std::vector<std::vector<T>> draws(std::int64_t shards) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<std::vector<T>> all(static_cast<std::size_t>(shards), std::vector<T>(kElements));
  for (auto& shard : all) {
    for (T& x : shard) x = static_cast<T>(value(random));
  }
  return all;
}

template <class T>
std::vector<T> tree_of(const std::vector<std::vector<T>>& shards) {
  std::vector<T> sums;
  for (std::size_t i = 0; i < kElements; ++i) {
    std::vector<T> column;
    for (const auto& shard : shards) column.push_back(shard[i]);
    sums.push_back(testing::tree_sum_of<T>(column));
  }
  return sums;
}

/// The sum of some consecutive shards, as computed by a rank.
template <class T>
std::vector<T> local_sum(std::span<const std::vector<T>> shards) {
  const auto launches = make_cpu_update_launches(1);
  const auto count = static_cast<std::int64_t>(shards.size());
  const std::size_t levels = static_cast<std::size_t>(std::countr_zero(shards.size()));
  std::vector<T> values(kElements), sums(levels * kElements);
  const ShardSum sum(*launches,
                     {.type = sizeof(T) == 8 ? DType::f64 : DType::f32,
                      .elements = kElements,
                      .values = values.data(),
                      .sums = reinterpret_cast<std::byte*>(sums.data()),
                      .stride = kElements * sizeof(T)},
                     count);
  // Twice: the leftovers of the first step in the blocks are not in the sum of the second.
  for (std::int64_t i = 0; i < 2 * count; ++i) {
    values = shards[static_cast<std::size_t>(i % count)];
    sum.add(i % count);
  }
  const T* const total = static_cast<const T*>(sum.total());
  return {total, total + kElements};
}

}  // namespace

TEST_CASE_TEMPLATE("shards are summed in the order of a binary tree", T, float, double) {
  for (const std::int64_t shards : {1, 2, 4, 8, 16, 64}) {
    CAPTURE(shards);
    const auto values = draws<T>(shards);
    CHECK(local_sum<T>(values) == tree_of(values));
  }
  // The order matters: summing one after the other gives different bits.
  const auto values = draws<T>(16);
  std::vector<T> running(kElements);
  for (const auto& shard : values) {
    for (std::size_t i = 0; i < kElements; ++i) running[i] += shard[i];
  }
  CHECK(running != tree_of(values));
}

TEST_CASE("the all-reduced sums of ranks over their shards equal those of one rank") {
  const auto values = draws<float>(16);
  for (const std::size_t ranks : {2, 4, 8, 16}) {
    CAPTURE(ranks);
    const std::size_t each = 16 / ranks;
    std::vector<std::vector<float>> sums;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      sums.push_back(local_sum<float>(std::span(values).subspan(rank * each, each)));
    }
    std::vector<const void*> inputs;
    for (const auto& sum : sums) inputs.push_back(sum.data());
    std::vector<float> total(kElements);
    TreeSum().run(inputs, total.data(), kElements, DType::f32);
    CHECK(total == local_sum<float>(values));
  }
}

TEST_CASE("a number of shards that is not a power of two is a bug of the caller") {
  const auto launches = make_cpu_update_launches(1);
  CHECK_THROWS_AS(ShardSum(*launches, {}, 3), Error);
  CHECK_THROWS_AS(ShardSum(*launches, {}, 0), Error);
}
