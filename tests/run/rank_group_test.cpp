// Messages between the ranks of a run.
#include <doctest/doctest.h>

#include <future>
#include <string>

#include "rank_sessions.h"
#include "ranks/spawn/spawn.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a rank that has failed and does not end is ended after its limit") {
  const int port = free_port();
  std::promise<std::string> ended;
  const testing::Outcomes outcomes = testing::run_threads(2, [&](int rank) {
    RankGroupOptions options;
    options.identity = {.rank = rank,
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
