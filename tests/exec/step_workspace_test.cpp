#include "exec/cudnn/step_workspace.h"

#include <doctest/doctest.h>

using trainyard::cudnn::StepWorkspace;

TEST_CASE("the step's own places go first, the library has what is left of the cap") {
  StepWorkspace workspace(1024);
  CHECK(workspace.left() == 1024);
  CHECK(workspace.take(300) == 0);
  CHECK(workspace.left() == 512);
  CHECK(workspace.take_for_library(512) == 512);
  CHECK(workspace.used() == 1024);
}

TEST_CASE("a step whose own needs fill the cap or more leaves the library none, and runs") {
  StepWorkspace workspace(1024);
  CHECK(workspace.take(5000) == 0);
  CHECK(workspace.left() == 0);
  CHECK(workspace.take_for_library(0) == 5120);
  CHECK(workspace.used() == 5120);
}

TEST_CASE("a cap that is no multiple of a place is rounded down for the library") {
  StepWorkspace workspace(1000);
  CHECK(workspace.left() == 768);
}

TEST_CASE("what another pass needs is left, so that the library chooses alike for both") {
  StepWorkspace training(1024), evaluation(1024);
  training.leave(300);
  static_cast<void>(evaluation.take(300));
  CHECK(training.left() == evaluation.left());
  CHECK(training.used() == 0);
  training.leave(5000);
  CHECK(training.left() == 0);
}
