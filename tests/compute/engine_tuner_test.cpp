// The choice of engines, with a scripted cuDNN and scripted times.
#include "compute/conv/cudnn/engine_tuner.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "engine_run.h"

using namespace trainyard;
using namespace trainyard::cudnn;
using namespace trainyard::testing;
using Run = trainyard::testing::EngineRun;

namespace {

using Source = CudaExecutorSettings::EngineSource;

CudaExecutorSettings in_folder(const TemporaryFolder& folder) {
  return {.engine_folder = folder.path()};
}

}  // namespace

TEST_CASE("the fastest engine wins, and the next run takes it without a trial") {
  const TemporaryFolder folder;
  {
    Run run(in_folder(folder));
    scripted_cudnn().engines = {{.index = 3}, {.index = 5, .knobs = {{2, 1}}}, {.index = 7}};
    run.milliseconds = {{3, 2.0}, {5, 1.0}, {7, 1.0}};
    CHECK(run.choose() == EngineChoice{.engine = 5, .knobs = {{2, 1}}});
    CHECK(run.tried == std::vector<std::int64_t>{3, 5, 7});
    CHECK(run.book->chosen() == engines_with({.engine = 5, .knobs = {{2, 1}}}));
  }
  Run next(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .knobs = {{2, 1}}}, {.index = 7}};
  CHECK(next.choose() == EngineChoice{.engine = 5, .knobs = {{2, 1}}});
  CHECK(next.tried.empty());
  CHECK(next.checked == std::vector<std::int64_t>{5});
  CHECK(scripted_cudnn().lists == 0);
  CHECK(next.warnings.empty());
}

TEST_CASE("a choice is on disk as soon as it is made, so it survives a run that ends early") {
  const TemporaryFolder folder;
  Run run(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}};
  run.milliseconds = {{3, 2.0}};
  run.choose();
  const EngineCache other(folder.path(), "NVIDIA H200", run.library.version(),
                          [](const std::string&) {});
  CHECK(other.find(run.key()) == EngineChoice{.engine = 3});
}

TEST_CASE("a plan that fails with any status is refused, the others continue") {
  for (const cudnnStatus_t status :
       {CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_EXECUTION_FAILED, CUDNN_STATUS_BAD_PARAM}) {
    Run run;
    scripted_cudnn().engines = {{.index = 3, .plan = status}, {.index = 5, .fallback = true}};
    run.milliseconds = {{5, 1.0}};
    CHECK(run.choose().engine == 5);
  }
}

TEST_CASE("if no engine is left, the error counts every reason") {
  Run run;
  scripted_cudnn().engines = {{.index = 1, .plan = CUDNN_STATUS_EXECUTION_FAILED},
                              {.index = 2, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
                              {.index = 3, .workspace_bytes = 1001},
                              {.index = 4, .plan = CUDNN_STATUS_EXECUTION_FAILED},
                              {.index = 6}};
  const std::string message = error_of(ErrorKind::device, [&] { run.choose(); });
  CHECK(message.starts_with("no cuDNN engine is left for conv output: input bf16 [2, 8, 4, 4]"));
  CHECK(message.find(": 2 EXECUTION_FAILED (no driver), 1 cannot be recorded, 1 needs more "
                     "workspace than the plan has, 1 not deterministic; ") != std::string::npos);
}

TEST_CASE("if a heuristic fails, the fallback list is used") {
  Run run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .fallback = true}};
  scripted_cudnn().mode_a = CUDNN_STATUS_EXECUTION_FAILED;
  run.milliseconds = {{5, 1.0}};
  CHECK(run.choose().engine == 5);
}

TEST_CASE("an engine that does not run, or cannot be recorded, is not chosen") {
  Run run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  run.milliseconds = {{5, 9.0}};
  CHECK(run.choose().engine == 5);
  CHECK(run.tried == std::vector<std::int64_t>{3, 5});
}

TEST_CASE("a GPU that fails, in a trial or before, ends the choice with its own error") {
  Run run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  run.gpu_fails = true;
  CHECK(error_of(ErrorKind::device, [&] { run.choose(); }) == "an illegal memory access");
  CHECK(run.tried == std::vector<std::int64_t>{3});
  scripted_cudnn().engines = {{.index = 3, .plan = CUDNN_STATUS_EXECUTION_FAILED}};
  CHECK(error_of(ErrorKind::device, [&] { run.choose(); }) == "an illegal memory access");
}

TEST_CASE("a GPU failure while a stored plan is made or run is not the stored engine's fault") {
  const TemporaryFolder folder;
  Run first(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}};
  first.milliseconds = {{3, 1.0}};
  first.choose();
  for (const cudnnStatus_t plan : {CUDNN_STATUS_EXECUTION_FAILED, CUDNN_STATUS_SUCCESS}) {
    Run run(in_folder(folder));
    scripted_cudnn().engines = {{.index = 3, .plan = plan}, {.index = 5}};
    run.gpu_fails = true;
    CHECK(error_of(ErrorKind::device, [&] { run.choose(); }) == "an illegal memory access");
    CHECK(run.warnings.empty());
  }
  Run next(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  CHECK(next.choose().engine == 3);
  CHECK(next.tried.empty());
}

TEST_CASE("without tuning the first permitted engine is taken, and no other plan made") {
  Run run({.tune = false});
  scripted_cudnn().engines = {{.index = 3, .notes = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}},
                              {.index = 5},
                              {.index = 7},
                              {.index = 9, .fallback = true}};
  CHECK(run.choose().engine == 5);
  CHECK(scripted_cudnn().plans == 1);
  CHECK(scripted_cudnn().lists == 1);
  CHECK(run.tried.empty());
  CHECK(run.checked == std::vector<std::int64_t>{5});
}

TEST_CASE(
    "without tuning an engine that does not run, or cannot be recorded, is skipped for the next") {
  Run run({.tune = false});
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .workspace_bytes = 700}, {.index = 7}};
  run.broken = {3};
  CHECK(run.choose().engine == 5);
  CHECK(run.checked == std::vector<std::int64_t>{3, 5});
  CHECK(run.subject.workspace_bytes == 700);

  Run none({.tune = false});
  scripted_cudnn().engines = {{.index = 3}};
  none.broken = {3};
  CHECK(error_of(ErrorKind::device, [&] { none.choose(); }).find(": 1 does not run; ") !=
        std::string::npos);
}

TEST_CASE("a stored engine that no longer runs is timed anew, one of rank 0 ends the run") {
  const TemporaryFolder folder;
  Run run(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}};
  run.milliseconds = {{3, 1.0}};
  run.choose();
  Run next(in_folder(folder));
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  next.milliseconds = {{5, 2.0}};
  next.broken = {3};
  CHECK(next.choose().engine == 5);
  CHECK(next.checked == std::vector<std::int64_t>{3});
  REQUIRE(next.warnings.size() == 1);
  CHECK(next.warnings[0].ends_with(": does not run"));

  Run follows({.engines_of = Source::first_rank, .engines = engines_with({.engine = 3})});
  scripted_cudnn().engines = {{.index = 3}};
  follows.broken = {3};
  CHECK(error_of(ErrorKind::device, [&] {
          follows.choose();
        }).starts_with("the cuDNN engine that rank 0 chose is unusable here: does not run"));
}

TEST_CASE("equal layers share one plan") {
  Run run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  run.milliseconds = {{3, 1.0}, {5, 2.0}};
  run.choose();
  run.choose();
  CHECK(scripted_cudnn().plans == 2);
}

TEST_CASE("a bias is added in the graph if that is faster, in the type of the output") {
  Run run;
  scripted_cudnn().engines = {{.index = 3},
                              {.index = 5, .workspace_bytes = 700, .adds_bias = true}};
  run.milliseconds = {{3, 2.0}, {5, 1.0}};
  CHECK(run.choose(8) == EngineChoice{.engine = 5, .adds_bias = true});
  CHECK(run.subject.bias == 8);
  CHECK(run.subject.workspace_bytes == 700);
  CHECK_FALSE(run.subject.graph.adds_bias);
}

TEST_CASE("a bias that ends in padding is not added in the graph") {
  Run run;
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .adds_bias = true}};
  run.milliseconds = {{3, 2.0}, {5, 1.0}};
  CHECK(run.choose(7).engine == 3);
}

TEST_CASE("every plan that is made and every trial is preceded by a tick") {
  Run run;
  scripted_cudnn().engines = {
      {.index = 3}, {.index = 5, .plan = CUDNN_STATUS_BAD_PARAM}, {.index = 7}};
  run.milliseconds = {{3, 2.0}, {7, 1.0}};
  run.choose();
  CHECK(run.ticks == 3 + 2);
}

TEST_CASE("a stored engine that fails is timed anew in a new run, with a warning") {
  const std::pair<std::vector<ScriptedEngine>, const char*> later[] = {
      {{{.index = 3, .plan = CUDNN_STATUS_EXECUTION_FAILED}, {.index = 5}},
       ": EXECUTION_FAILED (no driver)"},
      {{{.index = 5}}, ": BAD_PARAM (no driver)"},
      {{{.index = 3, .workspace_bytes = 1001}, {.index = 5}},
       ": needs more workspace than the plan has"}};
  for (const auto& [engines, reason] : later) {
    const TemporaryFolder folder;
    Run run(in_folder(folder));
    scripted_cudnn().engines = {{.index = 3}};
    run.milliseconds = {{3, 1.0}};
    run.choose();
    Run next(in_folder(folder));
    scripted_cudnn().engines = engines;
    next.milliseconds = {{5, 2.0}};
    CHECK(next.choose().engine == 5);
    REQUIRE(next.warnings.size() == 1);
    CHECK(next.warnings[0].starts_with(
        "a stored engine is not accepted and is timed again: conv output: input bf16"));
    CHECK(next.warnings[0].ends_with(reason));
    Run third(in_folder(folder));
    scripted_cudnn().engines = engines;
    CHECK(third.choose().engine == 5);
  }
}

TEST_CASE("a resume continues with its initial engines, even if others are faster") {
  Run run({.engines = engines_with({.engine = 5, .knobs = {{2, 1}}})});
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  run.milliseconds = {{3, 1.0}, {5, 2.0}};
  CHECK(run.choose() == EngineChoice{.engine = 5, .knobs = {{2, 1}}});
  CHECK(run.tried.empty());
}

TEST_CASE("a resume whose engine fails warns that bits may change, and times anew") {
  Run run({.engines = engines_with({.engine = 5})});
  scripted_cudnn().engines = {{.index = 3}};
  run.milliseconds = {{3, 1.0}};
  CHECK(run.choose().engine == 3);
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].starts_with(
      "a cuDNN engine that this run began with is unusable here, and engines are timed again: "
      "the last bits of its results may differ from those of an uninterrupted run (conv "));
  CHECK(run.warnings[0].find("BAD_PARAM (no driver)") != std::string::npos);
}

TEST_CASE("another rank takes rank 0's engine, and ends if there is no usable one") {
  const auto of_first = [](const std::string& engines) {
    return CudaExecutorSettings{.engines_of = Source::first_rank, .engines = engines};
  };
  Run follows(of_first(engines_with({.engine = 5})));
  scripted_cudnn().engines = {{.index = 3}, {.index = 5}};
  CHECK(follows.choose().engine == 5);
  CHECK(follows.tried.empty());

  Run fails(of_first(engines_with({.engine = 5})));
  scripted_cudnn().engines = {{.index = 3}};
  CHECK(error_of(ErrorKind::device, [&] { fails.choose(); })
            .starts_with("the cuDNN engine that rank 0 chose is unusable here: cuDNN: conv "
                         "output: input bf16"));
  CHECK(fails.warnings.empty());

  Run lacks(of_first("{}"));
  scripted_cudnn().engines = {{.index = 3}};
  CHECK(error_of(ErrorKind::device, [&] {
          lacks.choose();
        }).starts_with("rank 0 chose no cuDNN engine for a convolution here (conv output"));
}

TEST_CASE("a known choice that adds a bias that may not be added is rejected") {
  Run run({.engines = engines_with({.engine = 5, .adds_bias = true})});
  scripted_cudnn().engines = {{.index = 3}, {.index = 5, .adds_bias = true}};
  run.milliseconds = {{3, 1.0}, {5, 0.5}};
  CHECK(run.choose().engine == 3);
  REQUIRE(run.warnings.size() == 1);
  CHECK(run.warnings[0].find("it adds a bias that may not be added") != std::string::npos);
}

TEST_CASE("engines of an earlier run that are damaged are refused with their name") {
  CHECK(error_of(ErrorKind::data, [] { Run({.engines = "[]"}); }) ==
        "the engines of the earlier run: not an object");
  CHECK(error_of(ErrorKind::data, [] {
          Run({.engines_of = Source::first_rank, .engines = R"({"a": {"engine": 1}})"});
        }) == "the engines of rank 0: an engine's 'knobs' is not as expected");
}

TEST_CASE("a plan remade from its record has the knobs, and no descriptor leaks") {
  {
    Run run;
    scripted_cudnn().engines = {{.index = 5, .knobs = {{2, 1}, {13, 0}}, .workspace_bytes = 300}};
    const ConvGraph graph = small_conv(DType::f32);
    const EngineChoice choice{.engine = 5, .knobs = {{2, 1}, {13, 0}}};
    const EnginePlan plan =
        remake_plan(make_operation_graph(run.library, graph), run.search->device, choice);
    CHECK(plan.choice == choice);
    CHECK(plan.workspace_bytes == 300);
  }
  CHECK(scripted_cudnn().descriptors == 0);
}
