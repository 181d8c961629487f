// The board's decisions, on a clock that the test advances.
#include "ranks/rendezvous/watchdog_board.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace trainyard;

namespace {

constexpr WatchdogLimits kLimits{.first_step = Milliseconds(300'000),
                                 .step = Milliseconds(60'000),
                                 .median_steps = 20,
                                 .silence = Milliseconds(30'000),
                                 .cause = Milliseconds(2'000)};

Moment at(double seconds) {
  return Moment() +
         std::chrono::duration_cast<Moment::duration>(std::chrono::duration<double>(seconds));
}

Heartbeat pulse(std::int64_t step, std::uint64_t ticks, const std::string& operation = "load",
                bool waits = false) {
  return {.step = step, .ticks = ticks, .operation = operation, .waits = waits};
}

/// A board whose `ranks` have all joined at 0 s.
WatchdogBoard joined_board(int ranks) {
  WatchdogBoard board(ranks, kLimits, at(0));
  for (int rank = 0; rank < ranks; ++rank) board.join(rank, "host" + std::to_string(rank), at(0));
  return board;
}

}  // namespace

TEST_CASE("ranks with heartbeats and progress are well") {
  WatchdogBoard board = joined_board(2);
  for (int second = 1; second <= 1000; ++second) {
    for (const int rank : {0, 1}) {
      board.beat(rank, pulse(second, static_cast<std::uint64_t>(second)), at(second));
    }
    CHECK_FALSE(board.verdict(at(second)).has_value());
  }
}

TEST_CASE("a connection closed without signing off is a death, named with step and operation") {
  WatchdogBoard board = joined_board(2);
  board.beat(1, pulse(12, 40, "all_reduce", true), at(5));
  board.lose(1);
  const auto failure = board.verdict(at(5));
  REQUIRE(failure.has_value());
  CHECK(message_of(*failure) ==
        "rank 1 (host1), step 12, all_reduce: the process is gone: its connection closed without "
        "signing off; see its log, and whether its machine ran out of memory");
  CHECK(failure->exit_code == 8);
}

TEST_CASE("a connection closed after signing off, or after a report, is not a death") {
  WatchdogBoard board = joined_board(3);
  CHECK_FALSE(board.others_left(0));
  board.sign_off(1);
  board.lose(1);
  CHECK_FALSE(board.verdict(at(1)).has_value());
  CHECK_FALSE(board.others_left(0));
  board.report({.rank = 2, .text = "a collective", .exit_code = 8, .consequence = true}, at(1));
  board.lose(2);
  CHECK(board.others_left(0));
  CHECK_FALSE(board.verdict(at(2.9)).has_value());
  // A rank that has left sends no heartbeats and need not.
  CHECK(board.verdict(at(3))->text == "a collective");
}

TEST_CASE("silence is a stopped process") {
  WatchdogBoard board = joined_board(2);
  board.beat(0, pulse(1, 1), at(20));
  board.beat(1, pulse(1, 1), at(1));
  CHECK_FALSE(board.verdict(at(30.9)).has_value());
  const auto failure = board.verdict(at(31));
  REQUIRE(failure.has_value());
  CHECK(failure->rank == 1);
  CHECK(failure->text ==
        "no heartbeat for 30 s: the process is stopped, or its machine or network is gone");
}

TEST_CASE("a first step has its own limit, counted from the last progress") {
  WatchdogBoard board = joined_board(1);
  for (int second = 1; second < 400; ++second) {
    board.beat(0, pulse(0, second < 100 ? 1 : 2), at(second));
    CHECK_FALSE(board.verdict(at(second)).has_value());
  }
  board.beat(0, pulse(0, 2), at(399.5));
  CHECK_FALSE(board.verdict(at(399.9)).has_value());
  const auto failure = board.verdict(at(400));
  REQUIRE(failure.has_value());
  CHECK(failure->text == "no progress within 300 s: the process is alive but hangs");
}

TEST_CASE("a later step has the limit for steps") {
  WatchdogBoard board = joined_board(1);
  board.beat(0, pulse(7, 1), at(1));
  board.beat(0, pulse(8, 2), at(2));
  board.beat(0, pulse(8, 2), at(61));
  CHECK_FALSE(board.verdict(at(61.9)).has_value());
  CHECK(board.verdict(at(62))->text == "no progress within 60 s: the process is alive but hangs");
}

TEST_CASE("long steps have a limit in median steps") {
  WatchdogBoard board = joined_board(1);
  double now = 0;
  for (int step = 1; step <= 10; ++step) {
    // The first one and the longest one do not count: the median is 10 s.
    now += step == 1 || step == 5 ? 100 : 10;
    board.beat(0, pulse(step, static_cast<std::uint64_t>(step)), at(now));
  }
  board.beat(0, pulse(10, 10), at(now + 199));
  CHECK_FALSE(board.verdict(at(now + 199.9)).has_value());
  CHECK(board.verdict(at(now + 200))->text ==
        "no progress within 200 s: the process is alive but hangs");
}

TEST_CASE("several steps between two heartbeats are counted") {
  WatchdogBoard board = joined_board(1);
  board.beat(0, pulse(0, 1), at(0));
  board.beat(0, pulse(1, 2), at(10));
  for (int i = 1; i <= 5; ++i) {
    board.beat(0, pulse(1 + 4 * i, static_cast<std::uint64_t>(2 + 4 * i)), at(10 + 20 * i));
  }
  board.beat(0, pulse(21, 22), at(209));
  CHECK_FALSE(board.verdict(at(209.9)).has_value());  // a step takes 5 s
  CHECK(board.verdict(at(210)).has_value());
}

TEST_CASE("the rank that hangs is the cause, not the ranks that wait for it") {
  WatchdogBoard board = joined_board(3);
  for (const int rank : {0, 1, 2}) {
    board.beat(rank, pulse(1, 1), at(1));
    board.beat(rank, pulse(2, 2), at(2));
  }
  board.beat(0, pulse(2, 3, "all_reduce", true), at(2.5));
  board.beat(1, pulse(2, 3, "all_reduce", true), at(2.6));
  board.beat(2, pulse(2, 3, "load"), at(3));
  for (const int rank : {0, 1, 2}) {
    const bool waits = rank != 2;
    board.beat(rank, pulse(2, 3, waits ? "all_reduce" : "load", waits), at(62));
  }
  CHECK_FALSE(board.verdict(at(62.9)).has_value());
  const auto failure = board.verdict(at(63));
  REQUIRE(failure.has_value());
  CHECK(failure->rank == 2);
  CHECK(failure->operation == "load");
}

TEST_CASE("a rank may wait while another one works") {
  WatchdogBoard board = joined_board(2);
  for (const int rank : {0, 1}) {
    board.beat(rank, pulse(1, 1), at(1));
    board.beat(rank, pulse(2, 2), at(2));
  }
  for (int second = 3; second < 500; ++second) {
    board.beat(0, pulse(2, static_cast<std::uint64_t>(second), "save"), at(second));
    board.beat(1, pulse(2, 3, "barrier", true), at(second));
    CHECK_FALSE(board.verdict(at(second)).has_value());
  }
}

TEST_CASE("if every rank waits, the one furthest behind is named") {
  WatchdogBoard board = joined_board(2);
  for (const int rank : {0, 1}) {
    board.beat(rank, pulse(1, 1), at(1));
    board.beat(rank, pulse(2, 2), at(2));
  }
  board.beat(0, pulse(3, 3, "barrier", true), at(3));
  board.beat(1, pulse(2, 3, "all_reduce", true), at(4));
  board.beat(0, pulse(3, 3, "barrier", true), at(63));
  board.beat(1, pulse(2, 3, "all_reduce", true), at(63));
  const auto failure = board.verdict(at(64));
  REQUIRE(failure.has_value());
  CHECK(failure->rank == 1);
  CHECK(failure->text ==
        "no progress within 60 s: every rank waits for another one; was a collective called by "
        "only some ranks?");
}

TEST_CASE("a rank that does not join is named by its number") {
  WatchdogBoard board(2, kLimits, at(0));
  board.join(0, "host0", at(0));
  for (int second = 1; second < 300; ++second) {
    board.beat(0, pulse(0, static_cast<std::uint64_t>(second)), at(second));
    CHECK_FALSE(board.verdict(at(second)).has_value());
  }
  const auto failure = board.verdict(at(300));
  REQUIRE(failure.has_value());
  CHECK(message_of(*failure) ==
        "rank 1, step 0, start: it did not join within 300 s; was it started, and does it reach "
        "rank 0?");
}

TEST_CASE("a rank's own error counts at once, and the first failure is final") {
  WatchdogBoard board = joined_board(3);
  board.report({.rank = 2, .text = "a file is gone", .exit_code = 4}, at(1));
  board.lose(1);
  const auto failure = board.verdict(at(1));
  REQUIRE(failure.has_value());
  CHECK(failure->rank == 2);
  CHECK(failure->exit_code == 4);
  CHECK(board.verdict(at(1000)) == failure);
}

TEST_CASE("a failed collective waits for its cause, and is the failure if there is none") {
  const Failure consequence{
      .rank = 0, .text = "rank 1 is gone", .exit_code = 8, .consequence = true};
  WatchdogBoard board = joined_board(2);
  board.report(consequence, at(1));
  CHECK_FALSE(board.verdict(at(2)).has_value());
  board.lose(1);
  CHECK(board.verdict(at(2))->rank == 1);

  WatchdogBoard other = joined_board(2);
  other.report(consequence, at(1));
  CHECK_FALSE(other.verdict(at(2.9)).has_value());
  CHECK(other.verdict(at(3)) == consequence);
}

TEST_CASE("a rank that does not exist, or exists already, cannot join") {
  WatchdogBoard board(2, kLimits, at(0));
  CHECK_THROWS_WITH_AS(
      board.join(2, "x", at(0)),
      "rank 2 joined a job of 2 ranks; every rank needs a number of its own from 0", Error);
  CHECK_THROWS_AS(board.join(-1, "x", at(0)), Error);
  board.join(1, "x", at(0));
  CHECK_THROWS_WITH_AS(board.join(1, "y", at(0)),
                       "two processes joined as rank 1; every rank needs a number of its own",
                       Error);
}
