// Ranks that wait for the engines that rank 0 chooses.
#include <doctest/doctest.h>

#include "../base/manual_clock.h"
#include "rank_sessions.h"
#include "run/session/session_device.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kChoices = R"({"a": 1})";

void require(bool holds, const char* what) {
  if (!holds) throw Error(ErrorKind::bug, what);
}

/// Chooses for 35 seconds, one engine per second.
void choose_slowly(EngineRelay& relay, ManualClock& clock) {
  for (int second = 0; second < 35; ++second) {
    relay.tick();
    clock.advance(1);
  }
  relay.give(kChoices);
}

}  // namespace

TEST_CASE("while rank 0 takes long to choose, the others are notified within the interval") {
  const testing::Outcomes outcomes = run_groups(3, [](RankGroup& group) {
    ManualClock clock(0);
    EngineRelay relay(group, clock, 10);
    if (group.rank() == 0) return choose_slowly(relay, clock);
    for (int words = 0; words < 3; ++words) require(group.from_first("").empty(), "a word");
    require(group.from_first("") == kChoices, "then the choices");
  });
  CHECK(outcomes == testing::Outcomes(3));
}

TEST_CASE("every rank receives the choices of rank 0, and may keep ticking") {
  const testing::Outcomes outcomes = run_groups(3, [](RankGroup& group) {
    ManualClock clock(0);
    EngineRelay relay(group, clock, 10);
    if (group.rank() == 0) {
      choose_slowly(relay, clock);
    } else {
      require(relay.take() == kChoices, "what rank 0 chose");
    }
    clock.advance(100);
    relay.tick();  // nobody waits for a notification any more
    require(group.gather(std::to_string(group.rank()))[2] == "2", "calls are in step");
  });
  CHECK(outcomes == testing::Outcomes(3));
}

TEST_CASE("the watchdog knows from the first tick that a rank is choosing engines") {
  const auto operation_of = [](bool ticks) {
    std::string operation;
    static_cast<void>(run_groups(2, [&](RankGroup& group) {
      if (group.rank() > 0) return;
      ManualClock clock(0);
      EngineRelay relay(group, clock, 10);
      if (ticks) relay.tick();
      operation = group.report(Error(ErrorKind::data, "a file is damaged")).operation;
    }));
    return operation;
  };
  CHECK(operation_of(true) == "choosing engines");
  CHECK(operation_of(false) != "choosing engines");
}
