// Ranks that train, of which one asks to stop.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "../base/manual_clock.h"
#include "rank_sessions.h"
#include "ranks/stop_vote.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kStoppedRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 4, kernel: 3}, relu, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 64}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
  workers: 0
batch: {total: 16}
lr_scaling: none
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 3
)";
constexpr int kStoppingRanks = 2;

/// A rank with a time limit.
struct StoppingRank {
  ManualClock clock{0};
  std::unique_ptr<StopVote> vote;
};

struct Stopped {
  std::int64_t step = -1;
  std::int64_t skipped = 0;  // steps of the epoch
};

/// Where all ranks stop if the time of rank 1 ends while it trains step `late`, counted from 1;
/// -1: not together.
Stopped stop_of(PartialRun stretch, std::int64_t late) {
  std::vector<StoppingRank> all(kStoppingRanks);
  std::vector<Stopped> stopped(kStoppingRanks);
  stretch.yaml = kStoppedRun;
  stretch.ranks = kStoppingRanks;
  stretch.stop = [&](Session& session, RankGroup& group, const TrainingState& state, bool edge) {
    const auto at = static_cast<std::size_t>(group.rank());
    StoppingRank& rank = all[at];
    if (rank.vote == nullptr) {
      rank.vote = std::make_unique<StopVote>(group.communicator(), group.queue(),
                                             StopCauses{.clock = &rank.clock, .end = 1},
                                             session.device().results_kept);
      session.step().sum_with_results(rank.vote->request());
    }
    if (group.rank() == 1 && state.step == late) rank.clock.advance(2);
    const auto reason = rank.vote->reason(state.step, edge);
    if (reason == Outcome::out_of_time) stopped[at] = {state.step, state.skipped_steps};
    return reason;
  };
  for (const std::string& outcome : run_stretch(stretch).outcomes) CHECK(outcome == "");
  return stopped[0].step == stopped[1].step ? stopped[0] : Stopped{};
}

}  // namespace

TEST_CASE("ranks stop after the same step, whatever a step sums") {
  using Kind = DeviceChoice::Kind;
  for (const Kind device : {Kind::cpu, Kind::reference}) {
    CAPTURE(static_cast<int>(device));
    CHECK(stop_of({.device = device}, 1).step == 2);
  }
  CHECK(stop_of({.overrides = {"accumulate=2"}}, 1).step == 2);
  CHECK(stop_of({.overrides = {"batch={total: 16, shards: 4}"}}, 1).step == 2);
  CHECK(stop_of({.overrides = {"batch={total: 16, shards: 4}", "accumulate=2"}}, 1).step == 2);
  CHECK(stop_of({.overrides = {"ranks.transport=bf16"}}, 1).step == 2);
  CHECK(stop_of({.options = {.eager = true}}, 1).step == 2);
}

TEST_CASE("a request between epochs is seen after the first step of the next one") {
  CHECK(stop_of({}, 4).step == 5);  // an epoch has 4 steps
}

TEST_CASE("a request is seen after a step that is skipped") {
  const Stopped stopped =
      stop_of({.overrides = {"ranks.transport=fp16",
                             "loss_scale={start: " +
                                 std::to_string(static_cast<std::int64_t>(LossScale::kMost)) +
                                 ", dynamic: true}"}},
              0);
  CHECK(stopped.step == 1);
  CHECK(stopped.skipped == 1);
}
