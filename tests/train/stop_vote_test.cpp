// When ranks agree to stop.
#include "train/stop_vote.h"

#include <doctest/doctest.h>

using namespace trainyard;

TEST_CASE("if a device buffers results, a stop waits for the host to read them") {
  RankGroup alone{{}};
  const StopSignals signals;
  ManualClock clock(0);
  StopVote vote(alone, signals, clock, 5);
  const std::int64_t kept = 16;
  CHECK(vote.reason(16, false, kept) == std::nullopt);
  clock.advance(6);
  CHECK(vote.reason(17, false, kept) == std::nullopt);
  CHECK(vote.reason(18, true, kept) == Outcome::out_of_time);  // the epoch's last step
  CHECK(vote.reason(19, false, kept) == Outcome::out_of_time);
}

TEST_CASE("if it buffers none, a stop follows the step") {
  RankGroup alone{{}};
  const StopSignals signals;
  ManualClock clock(0);
  StopVote vote(alone, signals, clock, 5);
  CHECK(vote.reason(1, false, 1) == std::nullopt);
  clock.advance(6);
  CHECK(vote.reason(2, false, 1) == Outcome::out_of_time);
}
