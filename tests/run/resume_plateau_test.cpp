// The state of a plateau in checkpoints.
#include <doctest/doctest.h>

#include "stopped_run.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("a plateau halves the learning rates of the schedule from the next epoch on") {
  Run lowered(nullptr, kPlateau), plain(nullptr, {"schedule.poly.end=0.01"});
  CHECK(lowered.train({}, 0).plateau.factor == 0.25);
  static_cast<void>(plain.train({}, 0));
  const double factors[] = {1, 1, 0.5};
  for (std::size_t i = 0; i < kEpochs; ++i) {
    CHECK(lowered.recorder.rows.at(i).lr == factors[i] * plain.recorder.rows.at(i).lr);
  }
}

TEST_CASE("every number of a plateau, changed, changes how the run ends") {
  const Overrides patient = {"plateau={min_delta: 100, patience: 2, factor: 0.5}"};
  Run first(nullptr, patient);
  const TrainingState state = first.train({}, kEpochs * kStepsPerEpoch - 1);
  REQUIRE(state.plateau.waited == 1);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  const std::string end = resumed_end(checkpoint, first.recorder.rows, patient);
  for (const auto& [key, value] : checkpoint.state.at("plateau").items()) {
    CAPTURE(key);
    LoadedCheckpoint changed = checkpoint;
    const Json whole = value == 0 ? 3 : 0;
    changed.state["plateau"][key] = value.is_number_integer() ? whole : Json(0.25);
    CHECK(resumed_end(changed, first.recorder.rows, patient) != end);
  }
}

TEST_CASE("a checkpoint and its run have a plateau or neither has one") {
  Run with(nullptr, kPlateau), without;
  const LoadedCheckpoint of_plateau = reloaded(snapshot(with.session, with.train({}, 1)));
  const LoadedCheckpoint plain = reloaded(snapshot(without.session, without.train({}, 1)));
  CHECK(test::refusal([&] {
          static_cast<void>(restore(without.session, of_plateau));
        }).find("has the state of a plateau, the run has none; was 'plateau' changed?") !=
        std::string::npos);
  CHECK(test::refusal([&] {
          static_cast<void>(restore(with.session, plain));
        }).find("has no state of a plateau, the run has one; was 'plateau' changed?") !=
        std::string::npos);
  LoadedCheckpoint negative = of_plateau;
  negative.state["plateau"]["waited"] = -1;
  CHECK(test::refusal([&] {
          static_cast<void>(restore(with.session, negative));
        }).find("has a plateau that no run can have") != std::string::npos);
}
