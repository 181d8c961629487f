#include "ranks/comm/shared_ranks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "conformance.h"
#include "forwarding_ranks.h"
#include "ranks/comm/shared_memory.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Ranks that must not be asked for a sum.
class SumlessRanks : public ForwardingRanks {
 public:
  explicit SumlessRanks(Communicator& ranks) : ForwardingRanks(ranks) {}

 protected:
  void sum(Queue&, const SumPart&) override {
    throw Error(ErrorKind::device, "a sum came through");
  }
};

/// SumlessRanks, one of which is given memory that does not exist.
class MisledRanks final : public SumlessRanks {
 public:
  using SumlessRanks::SumlessRanks;
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    ForwardingRanks::broadcast(queue, data, bytes, root);
    if (rank() == 1 && bytes == sizeof(SharedMemoryName)) {
      static_cast<SharedMemoryName*>(data)->descriptor = -1;
    }
  }
};

SharedRanksOptions options_of(int rank, Milliseconds limit) {
  return {.host = "host" + std::to_string(rank), .machine = own_machine(), .limit = limit};
}

/// Runs work(its communicator) in one thread per rank, with sums through shared memory.
Outcomes run_shared(int ranks, const std::function<void(Communicator&)>& work) {
  return run_gloo(StoreKind::memory, ranks, [&](Communicator& gloo) {
    const auto group =
        share_sums(std::make_unique<SumlessRanks>(gloo), options_of(gloo.rank(), kLong));
    work(*group);
  });
}

/// Whether share_sums() returns `ranks` unchanged.
bool stay(std::unique_ptr<Communicator> ranks, const std::string& machine) {
  const Communicator* const before = ranks.get();
  SharedRanksOptions options = options_of(ranks->rank(), kLong);
  options.machine = machine;
  return share_sums(std::move(ranks), options).get() == before;
}

void check_sum(Communicator& group, std::int64_t count) {
  const auto queue = make_cpu_device()->make_queue();
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  group.all_reduce_sum(*queue, data.data(), count, DType::f32);
  CHECK(std::ranges::count(data, static_cast<float>(group.size())) == count);
}

void do_something_else() {
  CHECK(breaches_of(*make_single_communicator(), *make_cpu_device()).empty());
}

void check_failed(const Outcomes& outcomes, int rank, const std::string& call,
                  const std::string& reason) {
  const std::string number = std::to_string(rank);
  CHECK(outcomes[static_cast<std::size_t>(rank)] ==
        "rank " + number + " (host" + number + "): all_reduce_sum of " + call + " over " +
            std::to_string(outcomes.size()) + " ranks failed: " + reason);
}

}  // namespace

TEST_CASE("ranks that share memory pass the conformance suite, and Gloo sums nothing") {
  for (const int ranks : {2, 3, 4, 5, 8}) {
    INFO(ranks, " ranks");
    std::mutex mutex;
    std::vector<std::string> breaches;
    const Outcomes outcomes = run_shared(ranks, [&](Communicator& group) {
      CHECK(group.sums_in_tree());
      const auto found = breaches_of(group, *make_cpu_device());
      const std::scoped_lock lock(mutex);
      breaches.insert(breaches.end(), found.begin(), found.end());
    });
    CHECK(outcomes == Outcomes(static_cast<std::size_t>(ranks)));
    for (const std::string& breach : breaches) FAIL_CHECK(breach);
  }
}

TEST_CASE("sums of any number of pieces are bit-identical to Gloo's") {
  constexpr int kRanks = 3;
  for (const std::int64_t count : {1, 65'535, 65'536, 65'537, 131'072, 300'001}) {
    CAPTURE(count);
    const Outcomes outcomes = run_stores(StoreKind::memory, kRanks, [&](int rank, Store& store) {
      std::vector<float> mine(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = 1.0F / static_cast<float>(i + 1 + 17 * static_cast<std::size_t>(rank));
      }
      std::vector<float> again = mine;
      const auto queue = make_cpu_device()->make_queue();
      auto gloo = make_gloo_communicator(rank, kRanks, store, local_options(rank, kLong));
      gloo->all_reduce_sum(*queue, mine.data(), count, DType::f32);
      const auto group = share_sums(std::move(gloo), options_of(rank, kLong));
      group->all_reduce_sum(*queue, again.data(), count, DType::f32);
      CHECK(mine == again);
    });
    CHECK(outcomes == Outcomes(kRanks));
  }
}

TEST_CASE("several sums of one call share pieces and are bit-identical to each alone") {
  // The integers alone exceed a piece.
  for (const std::int64_t floats : {5, 65'530, 65'536, 140'000}) {
    CAPTURE(floats);
    const Outcomes outcomes = run_shared(3, [&](Communicator& group) {
      const auto queue = make_cpu_device()->make_queue();
      std::vector<float> a(static_cast<std::size_t>(floats)), a_alone;
      for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = 1.0F / static_cast<float>(i + 3 + 17 * static_cast<std::size_t>(group.rank()));
      }
      std::vector<double> b{0.1 * group.rank(), 1.0 / 3, 1e-20}, b_alone;
      std::vector<std::int32_t> c(70'000, group.rank() + 1);
      a_alone = a;
      b_alone = b;
      const std::array parts{SumPart{nullptr, 0, DType::f32}, SumPart{b.data(), 3, DType::f64},
                             SumPart{a.data(), floats, DType::f32},
                             SumPart{c.data(), 70'000, DType::i32}};
      group.all_reduce_sums(*queue, parts);
      group.all_reduce_sum(*queue, a_alone.data(), floats, DType::f32);
      group.all_reduce_sum(*queue, b_alone.data(), 3, DType::f64);
      CHECK(a == a_alone);
      CHECK(b == b_alone);
      CHECK(std::ranges::count(c, 6) == 70'000);
    });
    CHECK(outcomes == Outcomes(3));
  }
}

TEST_CASE("many sums in a row, with ranks that are late in turn") {
  CHECK(run_shared(3, [](Communicator& group) {
          for (int round = 0; round < 30; ++round) {
            if (round % 10 == group.rank()) do_something_else();
            check_sum(group, 70'000 - round);
          }
        }) == Outcomes(3));
}

TEST_CASE("a rank that leaves is named by every other, long before the limit") {
  const Moment begin = std::chrono::steady_clock::now();
  const Outcomes outcomes = run_shared(3, [](Communicator& group) {
    check_sum(group, 1000);
    if (group.rank() != 2) check_sum(group, 1000);
  });
  CHECK(seconds_since(begin) < 30);
  CHECK(outcomes[2].empty());
  for (const int rank : {0, 1}) {
    check_failed(outcomes, rank, "1000 f32 elements",
                 "rank 2 (host2) is gone (it left the group); see its output");
  }
}

TEST_CASE("a rank that does not arrive is named at the limit, and then no rank waits") {
  const Moment begin = std::chrono::steady_clock::now();
  std::latch ended(1);  // end of rank 1; until then rank 0 stays alive
  const Outcomes outcomes = run_gloo(StoreKind::memory, 2, [&](Communicator& gloo) {
    const Milliseconds limit = gloo.rank() == 0 ? Milliseconds(150) : kLong;
    const auto group =
        share_sums(std::make_unique<SumlessRanks>(gloo), options_of(gloo.rank(), limit));
    if (group->rank() == 1) {
      group->barrier();
      CHECK_THROWS_WITH_AS(check_sum(*group, 5),
                           "rank 1 (host1): all_reduce_sum of 5 f32 elements over 2 ranks failed: "
                           "rank 0 (host0) is gone (it left the group); see its output",
                           Error);
      return ended.count_down();
    }
    CHECK_THROWS_WITH_AS(check_sum(*group, 5),
                         "rank 0 (host0): all_reduce_sum of 5 f32 elements over 2 ranks failed: "
                         "rank 1 (host1) did not take part within 0.15 s (in shared memory); "
                         "see its output",
                         Error);
    group->barrier();
    ended.wait();
    check_sum(*group, 5);
  });
  CHECK(seconds_since(begin) < 30);
  CHECK(outcomes[1].empty());
  check_failed(outcomes, 0, "5 f32 elements",
               "an earlier call failed, and this rank left the group");
}

TEST_CASE("calls that do not belong together are distinguished") {
  const auto differing = [](std::int64_t count, DType type) {
    return run_shared(2, [&](Communicator& group) {
      const auto queue = make_cpu_device()->make_queue();
      std::vector<double> data(200, 1.0);
      group.rank() == 0 ? group.all_reduce_sum(*queue, data.data(), 100, DType::f32)
                        : group.all_reduce_sum(*queue, data.data(), count, type);
    });
  };
  Outcomes outcomes = differing(200, DType::f32);
  check_failed(outcomes, 0, "100 f32 elements",
               "rank 1 (host1) is in a different call, all_reduce_sum of 200 f32 elements");
  check_failed(outcomes, 1, "200 f32 elements",
               "rank 0 (host0) is in a different call, all_reduce_sum of 100 f32 elements");
  outcomes = differing(100, DType::i32);
  check_failed(outcomes, 0, "100 f32 elements",
               "rank 1 (host1) is in a different call, all_reduce_sum of 100 i32 elements");
}

TEST_CASE("sums that share a piece are compared together, and a difference shows all of them") {
  const auto differing = [](std::vector<SumPart> parts) {
    return run_shared(2, [&](Communicator& group) {
      const auto queue = make_cpu_device()->make_queue();
      std::vector<double> data(300, 1.0);
      std::vector<SumPart> own{{data.data(), 100, DType::f32}, {data.data() + 200, 3, DType::f64}};
      if (group.rank() == 1) {
        own = parts;
        for (SumPart& part : own) part.data = data.data();
      }
      group.all_reduce_sums(*queue, own);
    });
  };
  const std::string both = "100 f32 elements and 3 f64 elements";
  Outcomes outcomes = differing({{nullptr, 100, DType::f32}, {nullptr, 4, DType::f64}});
  check_failed(outcomes, 0, both,
               "rank 1 (host1) is in a different call, all_reduce_sum of 100 f32 elements and 4 "
               "f64 elements");
  check_failed(outcomes, 1, "100 f32 elements and 4 f64 elements",
               "rank 0 (host0) is in a different call, all_reduce_sum of " + both);
  // One of them lacks a sum.
  outcomes = differing({{nullptr, 100, DType::f32}});
  check_failed(outcomes, 0, both,
               "rank 1 (host1) is in a different call, all_reduce_sum of 100 f32 elements");
  check_failed(outcomes, 1, "100 f32 elements",
               "rank 0 (host0) is in a different call, all_reduce_sum of " + both);
  // Both have sums of the same size: the difference is in a piece after the first.
  outcomes = run_shared(2, [](Communicator& group) {
    const auto queue = make_cpu_device()->make_queue();
    std::vector<float> data(100'000);
    double last = 0;
    const std::array parts{SumPart{data.data(), 100'000, DType::f32},
                           SumPart{&last, 1, group.rank() == 0 ? DType::f64 : DType::i32}};
    group.all_reduce_sums(*queue, parts);
  });
  check_failed(outcomes, 0, "100000 f32 elements and 1 f64 elements",
               "rank 1 (host1) is in a different call, all_reduce_sum of 100000 f32 elements and 1 "
               "i32 elements");
}

TEST_CASE("ranks of several machines, or with one that cannot share memory, stay unchanged") {
  const std::string own = own_machine();
  const Outcomes outcomes = run_gloo(StoreKind::memory, 2, [&](Communicator& gloo) {
    const std::string other = gloo.rank() == 0 ? own : "another machine";
    CHECK_FALSE(stay(std::make_unique<SumlessRanks>(gloo), own));
    CHECK(stay(std::make_unique<SumlessRanks>(gloo), other));
    CHECK(stay(std::make_unique<SumlessRanks>(gloo), ""));
    CHECK(stay(std::make_unique<MisledRanks>(gloo), own));
  });
  CHECK(outcomes == Outcomes(2));
}

TEST_CASE("one rank alone shares nothing") {
  CHECK(stay(make_single_communicator(), own_machine()));
}

TEST_CASE("this machine has a name, the same each time") {
  CHECK_FALSE(own_machine().empty());
  CHECK(own_machine() == own_machine());
}
