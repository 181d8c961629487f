// A step of a shipped run that is captured on a stand-in GPU, whole or part by part, has the nodes
// that are counted without one.
#include <doctest/doctest.h>

#include <filesystem>

#include "bench/counted_step.h"
#include "bench/step_runner.h"
#include "captured_nodes.h"
#include "one_gpu.h"
#include "run/session/session_model.h"

using namespace trainyard;
using namespace trainyard::test;

TEST_CASE("the nodes of a shipped run's step are counted without a GPU") {
  const std::filesystem::path configs = std::filesystem::path(TY_SOURCE_DIR) / "configs";
  for (const char* const name :
       {"resnet_cifar10", "minigooglenet_cifar10", "cnn_cifar10", "imdb_lstm"}) {
    const RunConfig run = read_run_config(configs / (std::string(name) + ".yaml"), {});
    const TrainingGraph graph = make_training_graph(run, 2);
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      CAPTURE(name);
      CAPTURE(name_of(precision));
      const Target target = cuda_target(precision);
      OneGpu gpu;
      StepRunner runner(run, graph, 1, {.compute = gpu.compute(), .target = target});
      for (int step = 0; step < 2; ++step) runner.step();  // the second one is captured
      CHECK(nodes_captured() == names_of(count_step(run, graph, target)));
      CHECK(nodes_captured().size() == runner.counts().launches);
      const auto counted = count_parts(run, graph, target);
      const std::vector<StepPart> parts = runner.parts();
      REQUIRE(parts.size() == counted.size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        CAPTURE(parts[i].name);
        static_cast<void>(gpu.compute().device.record(*parts[i].queue, parts[i].work));
        CHECK(nodes_captured() == names_of(counted[i]));
      }
    }
  }
}
