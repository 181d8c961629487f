#include "compute/conv/cudnn/step_workspace.h"

#include <doctest/doctest.h>

using trainyard::cudnn::StepWorkspace;

TEST_CASE("the step's own slots come first, the library gets the rest of the cap") {
  StepWorkspace workspace(1024);
  CHECK(workspace.left() == 1024);
  CHECK(workspace.take(300) == 0);
  CHECK(workspace.left() == 512);
  CHECK(workspace.take_for_library(512) == 512);
  CHECK(workspace.used() == 1024);
}

TEST_CASE("a step whose own needs reach the cap leaves the library nothing, and still runs") {
  StepWorkspace workspace(1024);
  CHECK(workspace.take(5000) == 0);
  CHECK(workspace.left() == 0);
  CHECK(workspace.take_for_library(0) == 5120);
  CHECK(workspace.used() == 5120);
}

TEST_CASE("a cap that is not a multiple of the alignment is rounded down for the library") {
  StepWorkspace workspace(1000);
  CHECK(workspace.left() == 768);
}
