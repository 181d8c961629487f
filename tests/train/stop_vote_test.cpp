// When ranks agree to stop.
#include "ranks/stop_vote.h"

#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include "../base/manual_clock.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace testing;

namespace {

constexpr std::int64_t kKept = 16;  // results, where the device sums by itself

/// A rank with a time limit of 5 s, and a training step that is only its sum.
struct Voter {
  Voter(Communicator& group, std::int64_t kept, const StopSignals* signals = nullptr)
      : ranks(group), vote(ranks, *queue, {.signals = signals, .clock = &clock, .end = 5}, kept) {}
  void step(int sums = 1) {
    const SumPart request = vote.request();
    for (int i = 0; i < sums && request.count > 0; ++i)
      ranks.all_reduce_sums(*queue, {&request, 1});
  }

  Communicator& ranks;
  std::unique_ptr<Queue> queue = make_cpu_device()->make_queue();
  ManualClock clock{0};
  StopVote vote;
};

void check_on_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  CHECK(testing::run_gloo(StoreKind::memory, ranks, work, Milliseconds(10'000)) ==
        Outcomes(static_cast<std::size_t>(ranks)));
}

}  // namespace

TEST_CASE("if a device buffers results, a stop waits for the host to read them") {
  const auto alone = make_single_communicator();
  Voter rank(*alone, kKept);
  CHECK(rank.vote.reason(16, false) == std::nullopt);
  rank.clock.advance(6);
  CHECK(rank.vote.reason(17, false) == std::nullopt);
  CHECK(rank.vote.reason(18, true) == Outcome::out_of_time);  // the epoch's last step
  CHECK(rank.vote.reason(19, false) == Outcome::out_of_time);
}

TEST_CASE("if it buffers none, a stop of a single rank follows the step") {
  const auto alone = make_single_communicator();
  Voter rank(*alone, 1);
  CHECK(rank.vote.request().count == 0);
  CHECK(rank.vote.reason(1, false) == std::nullopt);
  rank.clock.advance(4.9);
  CHECK(rank.vote.reason(2, false) == std::nullopt);
  rank.clock.advance(0.1);
  CHECK(rank.vote.reason(3, false) == Outcome::out_of_time);
}

TEST_CASE("without causes nothing stops a rank") {
  const auto alone = make_single_communicator();
  const auto queue = make_cpu_device()->make_queue();
  StopVote vote(*alone, *queue, {}, 1);
  CHECK(vote.reason(1, true) == std::nullopt);
  CHECK_FALSE(vote.signalled());
  CHECK(vote.signal() == 0);
}

TEST_CASE("a time limit counts from when it is set, and 0 is none") {
  const auto alone = make_single_communicator();
  const auto queue = make_cpu_device()->make_queue();
  const StopSignals signals;
  ManualClock clock(0);
  clock.advance(100);
  StopVote limited(*alone, *queue, stop_causes(signals, clock, 5), 1);
  StopVote unlimited(*alone, *queue, stop_causes(signals, clock, 0), 1);
  CHECK(limited.reason(1, false) == std::nullopt);
  clock.advance(5);
  CHECK(limited.reason(2, false) == Outcome::out_of_time);
  CHECK(unlimited.reason(2, false) == std::nullopt);
}

TEST_CASE("ranks stop after the step with whose results a request of one of them is summed") {
  for (const int sums : {1, 2000}) {  // sums of a step: with shards one per micro-batch
    CAPTURE(sums);
    check_on_ranks(3, [sums](Communicator& group) {
      Voter rank(group, 1);
      CHECK(rank.vote.request().count == 1);
      CHECK(rank.vote.request().type == DType::f64);
      CHECK(rank.vote.request().data == rank.vote.request().data);
      for (std::int64_t step = 100; step < 103; ++step) {
        if (step == 102 && group.rank() == 1) rank.clock.advance(6);
        CHECK(rank.vote.reason(step, step == 100) == std::nullopt);
        rank.step(sums);
      }
      CHECK(rank.vote.reason(103, false) == Outcome::out_of_time);
      CHECK(rank.vote.reason(103, true) == Outcome::out_of_time);
    });
  }
}

TEST_CASE("between epochs, without a step, a rank does not take its own request for that of all") {
  check_on_ranks(2, [](Communicator& group) {
    Voter rank(group, 1);
    CHECK(rank.vote.reason(0, true) == std::nullopt);
    rank.step();
    if (group.rank() == 1) rank.clock.advance(6);
    CHECK(rank.vote.reason(1, true) == std::nullopt);  // the epoch's last step
    CHECK(rank.vote.reason(1, true) == std::nullopt);  // before the first step of the next one
    rank.step();
    CHECK(rank.vote.reason(2, false) == Outcome::out_of_time);
  });
}

TEST_CASE(
    "where devices sum by themselves, nothing is summed, and ranks vote as results are read") {
  check_on_ranks(2, [](Communicator& group) {
    Voter rank(group, kKept);
    CHECK(rank.vote.request().count == 0);
    if (group.rank() == 1) rank.clock.advance(6);
    for (std::int64_t step = 1; step < kKept; ++step) {
      CHECK(rank.vote.reason(step, false) == std::nullopt);
    }
    CHECK(rank.vote.reason(kKept, false) == Outcome::out_of_time);
  });
}

TEST_CASE("a signal to one rank stops all, and outvotes the time limit of another") {
  const StopSignals signals;
  check_on_ranks(2, [&signals](Communicator& group) {
    Voter rank(group, 1, group.rank() == 1 ? &signals : nullptr);
    CHECK(rank.vote.reason(0, true) == std::nullopt);
    rank.step();
    if (group.rank() == 0) rank.clock.advance(6);
    if (group.rank() == 1) {
      CHECK_FALSE(rank.vote.signalled());
      ::raise(SIGTERM);
      CHECK(rank.vote.signalled());
    }
    CHECK(rank.vote.reason(1, false) == std::nullopt);
    CHECK(rank.vote.signal() == 0);
    rank.step();
    CHECK(rank.vote.reason(2, false) == Outcome::interrupted);
    CHECK(rank.vote.signal() == SIGTERM);
    CHECK(rank.vote.signalled());
  });
}
