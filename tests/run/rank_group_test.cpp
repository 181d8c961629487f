// What the ranks of a run say to each other.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "rank_sessions.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a vote that one rank calls for is known to all after the sums that follow") {
  const testing::Outcomes outcomes = run_groups(3, [](RankGroup& group) {
    double value = group.rank();
    const std::array parts{SumPart{&value, 1, DType::f64}};
    const auto sum = [&] { group.communicator().all_reduce_sums(group.queue(), parts); };
    const auto require = [](bool holds, const char* what) {
      if (!holds) throw Error(ErrorKind::bug, what);
    };
    sum();
    require(value == 3, "the sum is that of the values alone");
    require(!group.vote_called(), "nobody has called");
    if (group.rank() == 1) group.call_vote();
    require(!group.vote_called(), "nobody can know before a sum");
    sum();
    require(group.vote_called(), "all know");
    sum();
    require(group.vote_called(), "it holds");
  });
  CHECK(outcomes == testing::Outcomes(3));
}

TEST_CASE("a rank alone knows its own call at once") {
  RankGroup alone{{}};
  CHECK_FALSE(alone.vote_called());
  alone.call_vote();
  CHECK(alone.vote_called());
}
