// The state of a plateau in checkpoints.
#include <doctest/doctest.h>

#include "stopped_run.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("every number of a plateau, changed, changes how the run ends") {
  Run first(nullptr, kPlateau);
  const TrainingState state = first.train({}, kEpochs * kStepsPerEpoch - 1);
  CHECK(state.plateau.factor == 0.5);
  CHECK(first.recorder.rows.at(1).lr > 0.02);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  const std::string end = resumed_end(checkpoint, first.recorder.rows, kPlateau);
  for (const auto& [key, value] : checkpoint.state.at("plateau").items()) {
    CAPTURE(key);
    LoadedCheckpoint changed = checkpoint;
    changed.state["plateau"][key] = value.is_number_integer() ? Json(3) : Json(0.25);
    CHECK(resumed_end(changed, first.recorder.rows, kPlateau) != end);
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
