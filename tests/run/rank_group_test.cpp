// Messages between the ranks of a run.
#include <doctest/doctest.h>

#include <array>
#include <future>
#include <string>

#include "launch/launcher.h"
#include "rank_sessions.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a vote that one rank calls is known to all after the following all-reduces") {
  const testing::Outcomes outcomes = run_groups(3, [](RankGroup& group) {
    double value = group.rank();
    const std::array parts{SumPart{&value, 1, DType::f64}};
    const auto sum = [&] { group.communicator().all_reduce_sums(group.queue(), parts); };
    const auto require = [](bool holds, const char* what) {
      if (!holds) throw Error(ErrorKind::bug, what);
    };
    sum();
    require(value == 3, "the sum is that of the values alone");
    require(!group.vote_called(), "no rank has called");
    if (group.rank() == 1) group.call_vote();
    require(!group.vote_called(), "unknown before an all-reduce");
    sum();
    require(group.vote_called(), "all know");
    sum();
    require(group.vote_called(), "it holds");
  });
  CHECK(outcomes == testing::Outcomes(3));
}

TEST_CASE("a rank that has failed and does not end is ended after its limit") {
  const int port = free_port();
  std::promise<std::string> ended;
  const testing::Outcomes outcomes = testing::run_threads(2, [&](int rank) {
    RankGroupOptions options;
    options.place = {.rank = rank,
                     .ranks = 2,
                     .local_rank = rank,
                     .local_ranks = 2,
                     .master_address = "127.0.0.1",
                     .master_port = port,
                     .token = "a token",
                     .source = "local"};
    options.on_failure = [&, rank](const Failure& failure) {
      if (rank == 0) ended.set_value(failure.text);
    };
    options.leave = Milliseconds(1);
    RankGroup group(options);
    const Failure first = group.report(Error(ErrorKind::data, "a file is damaged"));
    if (rank != 0) return;
    // Only that end releases what this rank then waits for, such as a driver.
    const std::string told = ended.get_future().get();
    if (told != first.text) throw Error(ErrorKind::bug, told);
  });
  CHECK(outcomes == testing::Outcomes(2));
}

TEST_CASE("a failure's text does not repeat which rank it was") {
  const testing::Outcomes outcomes = run_groups(2, [](RankGroup& group) {
    const ErrorKind kind = group.rank() == 1 ? ErrorKind::data : ErrorKind::device;
    throw error_of(group.report(Error(kind, group.name() + ": NCCL: barrier: why")));
  });
  CHECK(outcomes == testing::Outcomes(2, "rank 1 (host1), step 0, start: NCCL: barrier: why"));
}

TEST_CASE("a single rank knows its own call at once") {
  RankGroup alone{{}};
  CHECK_FALSE(alone.vote_called());
  alone.call_vote();
  CHECK(alone.vote_called());
}
