#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "ranks/comm/shared_memory.h"
#include "thread_ranks.h"

using namespace trainyard;
using Absence = SharedBarrier::Absence;

using trainyard::testing::kLong;

namespace {

Moment in(Milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// Two ranks of this process.
struct Pair {
  BarrierGate gate;
  std::array<BarrierSlot, 2> slots;
  std::array<pid_t, 2> processes{::getpid(), ::getpid()};
  SharedBarrier first{gate, slots, 0, processes};
  std::unique_ptr<SharedBarrier> second =
      std::make_unique<SharedBarrier>(gate, slots, 1, processes);
};

void check_absent(SharedBarrier& waiting, Moment deadline, int rank, Absence why) {
  const auto absent = waiting.await_all(deadline);
  REQUIRE(absent.has_value());
  CHECK(absent->rank == rank);
  CHECK(absent->why == why);
}

/// A process that does nothing until it is killed.
pid_t start_process() {
  const pid_t process = ::fork();
  if (process == 0) {
    while (true) ::pause();
  }
  return process;
}

}  // namespace

TEST_CASE("a waiting rank sees what another wrote before it arrived") {
  Pair pair;
  int written = 0;
  std::jthread other([&] {
    written = 5;
    pair.second->arrive();
    CHECK_FALSE(pair.second->await_all(in(kLong)).has_value());
  });
  pair.first.arrive();
  CHECK_FALSE(pair.first.await_all(in(kLong)).has_value());
  CHECK(written == 5);
}

TEST_CASE("a rank that arrived once has not arrived twice") {
  Pair pair;
  pair.second->arrive();
  pair.first.arrive();
  CHECK_FALSE(pair.first.await_all(in(kLong)).has_value());
  pair.first.arrive();
  check_absent(pair.first, in(Milliseconds(5)), 1, Absence::late);
  check_absent(pair.first, in(Milliseconds(50)), 1, Absence::late);  // after napping
  pair.second->arrive();
  CHECK_FALSE(pair.first.await_all(in(kLong)).has_value());
}

TEST_CASE("a rank that left is missing at once, unless it had arrived before") {
  Pair pair;
  pair.second->arrive();
  pair.second.reset();
  pair.first.arrive();
  CHECK_FALSE(pair.first.await_all(in(kLong)).has_value());
  pair.first.arrive();
  check_absent(pair.first, in(kLong), 1, Absence::left);
}

TEST_CASE("a rank that arrives and leaves at once has arrived, whenever that is seen") {
  for (int round = 0; round < 5'000; ++round) {
    Pair pair;
    std::jthread other([&] {
      pair.second->arrive();
      pair.second->leave();
    });
    pair.first.arrive();
    REQUIRE_FALSE(pair.first.await_all(in(kLong)).has_value());
  }
}

TEST_CASE("far more ranks than cores meet many times, and a sleeping one sees that another left") {
  constexpr std::size_t kRanks = 64;
  constexpr int kRounds = 50;
  BarrierGate gate;
  std::vector<BarrierSlot> slots(kRanks);
  const std::vector<pid_t> processes(kRanks, ::getpid());
  std::vector<std::unique_ptr<SharedBarrier>> ranks;
  for (std::size_t i = 0; i < kRanks; ++i) {
    ranks.push_back(std::make_unique<SharedBarrier>(gate, slots, static_cast<int>(i), processes));
  }
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  std::atomic<int> left_behind{0};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kRanks; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 1; round <= kRounds; ++round) {
        ++arrived;
        ranks[i]->arrive();
        CHECK_FALSE(ranks[i]->await_all(in(kLong)).has_value());
        early += arrived < static_cast<int>(kRanks) * round ? 1 : 0;
      }
      if (i == 7) return ranks[i]->leave();
      ranks[i]->arrive();
      const auto absent = ranks[i]->await_all(in(kLong));
      left_behind += absent && absent->rank == 7 && absent->why == Absence::left ? 1 : 0;
    });
  }
  threads.clear();
  CHECK(early == 0);
  CHECK(left_behind == static_cast<int>(kRanks) - 1);
}

TEST_CASE("a rank whose process ended is missing") {
  BarrierGate gate;
  std::array<BarrierSlot, 2> slots;
  const pid_t child = start_process();
  REQUIRE(child > 0);
  SharedBarrier waiting(gate, slots, 0, std::array{::getpid(), child});
  waiting.arrive();
  check_absent(waiting, in(Milliseconds(50)), 1, Absence::late);
  ::kill(child, SIGKILL);
  check_absent(waiting, in(kLong), 1, Absence::ended);
  CHECK(::waitpid(child, nullptr, 0) == child);  // its end was seen before it was reaped
}

TEST_CASE("a process that does not exist cannot be watched") {
  const pid_t child = start_process();
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  BarrierGate gate;
  std::array<BarrierSlot, 2> slots;
  const std::array processes{::getpid(), child};
  CHECK_THROWS_WITH_AS(
      SharedBarrier(gate, slots, 0, processes),
      ("watching process " + std::to_string(child) + " failed: No such process").c_str(), Error);
}
