// With how many others a rank connects, and when.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "memory_store.h"
#include "ranks/comm/gloo_mesh.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Counts what the ranks ask of their store.
class CountingStore final : public Store {
 public:
  explicit CountingStore(Store& store) : store_(store) {}
  void set(std::string_view key, std::string_view value) override {
    ++requests;
    places += key.find(" for ") != std::string_view::npos ? 1 : 0;
    store_.set(key, value);
  }
  std::string get(std::string_view key, Milliseconds limit) override {
    ++requests;
    return store_.get(key, limit);
  }
  void wait(std::string_view key, Milliseconds limit) override {
    ++requests;
    store_.wait(key, limit);
  }
  std::int64_t add(std::string_view key, std::int64_t amount) override {
    ++requests;
    return store_.add(key, amount);
  }

  std::atomic<int> requests{0};
  std::atomic<int> places{0};  // where a rank expects another: two for a connection

 private:
  Store& store_;
};

void sum_of_ones(Communicator& group, Queue& queue, std::int64_t count) {
  std::vector<float> ones(static_cast<std::size_t>(count), 1.0F);
  group.all_reduce_sum(queue, ones.data(), count, DType::f32);
  const auto is_sum = [&](float value) { return value == static_cast<float>(group.size()); };
  CHECK(std::ranges::all_of(ones, is_sum));
}

}  // namespace

TEST_CASE("neighbours are mutual, and grow with the logarithm of the ranks") {
  CHECK(neighbours_of(0, 1).empty());
  CHECK(neighbours_of(1, 2) == std::vector<int>{0});
  CHECK(neighbours_of(2, 5) == std::vector<int>{0, 1, 3, 4});
  CHECK(neighbours_of(0, 6) == std::vector<int>{1, 2, 4, 5});
  for (const int ranks : {7, 24, 256, 1000}) {
    for (int rank = 0; rank < ranks; ++rank) {
      const std::vector<int> mine = neighbours_of(rank, ranks);
      for (const int other : mine) {
        const std::vector<int> theirs = neighbours_of(other, ranks);
        CHECK(std::ranges::binary_search(theirs, rank));
      }
    }
  }
  CHECK(neighbours_of(3, 256).size() == 15);
  CHECK(neighbours_of(3, 1000).size() == 20);
}

TEST_CASE("ranks that exchange small values connect to their neighbours only") {
  constexpr int kRanks = 24;  // 8 neighbours each, of 23 others
  const auto store = make_memory_store();
  CountingStore counting(*store);
  const Outcomes outcomes = run_threads(kRanks, [&](int rank) {
    const auto group =
        make_gloo_communicator(rank, kRanks, counting, local_options(rank, Milliseconds(60'000)));
    const auto queue = make_cpu_device()->make_queue();
    std::vector<int> all(kRanks);
    group->all_gather(*queue, &rank, sizeof rank, all.data());
    for (int other = 0; other < kRanks; ++other)
      CHECK(all[static_cast<std::size_t>(other)] == other);
    for (const int root : {0, 17}) {
      int value = rank;
      group->broadcast(*queue, &value, sizeof value, root);
      CHECK(value == root);
    }
    sum_of_ones(*group, *queue, 1024);  // 4 KiB
    group->barrier();
  });
  CHECK(outcomes == Outcomes(kRanks));
  const int neighbours = static_cast<int>(neighbours_of(0, kRanks).size());
  CHECK(neighbours == 8);
  CHECK(counting.places == kRanks * neighbours);
  // A place for and of each neighbour, and that both are connected.
  CHECK(counting.requests == kRanks * (3 * neighbours + 1));
}

TEST_CASE("the first large sum connects each rank to all others, and later ones to no more") {
  constexpr int kRanks = 6;  // each has 4 neighbours
  const auto store = make_memory_store();
  CountingStore counting(*store);
  const Outcomes outcomes = run_threads(kRanks, [&](int rank) {
    const auto group =
        make_gloo_communicator(rank, kRanks, counting, local_options(rank, Milliseconds(60'000)));
    const auto queue = make_cpu_device()->make_queue();
    for (int i = 0; i < 3; ++i) sum_of_ones(*group, *queue, 1025);
  });
  CHECK(outcomes == Outcomes(kRanks));
  CHECK(counting.places == kRanks * (kRanks - 1));
}

TEST_CASE("a rank that does not take part in the first large sum is named") {
  constexpr int kRanks = 6;  // each has 4 neighbours
  const Outcomes outcomes = run_gloo(
      StoreKind::memory, kRanks,
      [](Communicator& group) {
        if (group.rank() == 3) return;
        sum_of_ones(group, *make_cpu_device()->make_queue(), 5000);
      },
      Milliseconds(300));
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::string& text = outcomes[static_cast<std::size_t>(rank)];
    INFO(text);
    CHECK(text.empty() == (rank == 3));
  }
  // Ranks whose neighbour it is not have waited for it to connect.
  const std::string expected = "no rank set 'test/rank 3 for 0' within ";
  CHECK(
      outcomes[0].starts_with("rank 0 (host0): all_reduce_sum of 5000 f32 elements over 6 ranks "
                              "failed: " +
                              expected));
}
