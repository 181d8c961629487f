// The choice of engines for results that are added to what is there.
#include <doctest/doctest.h>

#include "engine_run.h"

namespace trainyard::testing {
namespace {

/// A data gradient that is added to another one: 512 bytes.
ConvGraph adding_conv() {
  ConvGraph graph = small_conv(DType::bf16);
  graph.computes = ConvGraph::Computes::input_gradient;
  graph.adds_result = true;
  return graph;
}

TEST_CASE("a result that is added is of an engine that adds, even if another one is faster") {
  EngineRun run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .adds_result = true}};
  run.milliseconds = {{3, 1.0}, {5, 2.0}};
  const EngineChoice choice = run.choose(0, adding_conv());
  CHECK(choice == EngineChoice{.engine = 5, .adds_result = true});
  CHECK(run.tried == std::vector<std::int64_t>{5});
  CHECK(run.subject.graph.adds_result);
  CHECK(run.choose(0, small_conv(DType::bf16)).engine == 3);  // another key
}

TEST_CASE(
    "if no engine adds, one that overwrites is chosen, in what the result leaves of the room") {
  for (const bool tune : {true, false}) {
    EngineRun run({.tune = tune});
    CHECK(result_workspace(adding_conv()) == 512);
    scripted_cudnn().engines = {
        {.index = 2, .workspace_bytes = 1000 - 512 + 1},
        {.index = 3, .workspace_bytes = 1000 - 512},
        {.index = 5, .adds_result = true, .plan = CUDNN_STATUS_NOT_SUPPORTED}};
    run.milliseconds = {{2, 1.0}, {3, 2.0}};
    CHECK(run.choose(0, adding_conv()) == EngineChoice{.engine = 3});
    EngineRun resumed({.tune = tune, .engines = run.book->chosen()});
    scripted_cudnn().engines = {{.index = 3}, {.index = 5, .adds_result = true}};
    CHECK(resumed.choose(0, adding_conv()) == EngineChoice{.engine = 3});
    CHECK(resumed.warnings.empty());
  }
}

TEST_CASE("a known choice that adds what is not to be added is rejected") {
  EngineRun run({.engines = engines_with({.engine = 5, .adds_result = true})});
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .adds_result = true}};
  run.milliseconds = {{3, 1.0}};
  CHECK(run.choose().engine == 3);
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].find("it adds what may not be added") != std::string::npos);
}

}  // namespace
}  // namespace trainyard::testing
