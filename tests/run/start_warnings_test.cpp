// Warnings about runs that can start, but hardly mean what they say.
#include <doctest/doctest.h>

#include <filesystem>

#include "config/load.h"
#include "graph/build.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/readiness.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

Graph network(const std::string& layers) {
  return build_graph(config::parse_yaml("{input: [3, 8, 8], layers: " + layers + "}", "n.yaml"),
                     {});
}

std::string of_schedule(const std::string& schedule, std::int64_t epochs, std::int64_t steps,
                        const std::string& more = "") {
  const RunConfig run = read_run(kTinyRun + ("schedule: {" + schedule + "}\n") + more);
  return schedule_warning(schedule_of(run, 64).get(),
                          {.steps = steps, .all_steps = epochs * steps, .epochs = epochs});
}

std::string of_scale(const std::string& layers, const std::string& preprocess = "[]") {
  std::string text = kTinyRun;
  text.insert(text.find("data:\n") + 6, "  preprocess: " + preprocess + "\n");
  const RunConfig run = read_run(text);
  return scale_warning(run.data, *run.data.train.source->open({}), network(layers));
}

}  // namespace

TEST_CASE("a warm-up longer than the run is named with both lengths") {
  CHECK(of_schedule("cosine: {warmup: {steps: 200}}", 3, 7) ==
        "the warm-up takes 200 steps, but the run has 21 steps (3 epochs of 7): the learning rate "
        "never reaches its full value; shorten the warm-up, or train longer");
  CHECK(of_schedule("cosine: {warmup: {epochs: 5}}", 1, 1000)
            .starts_with(
                "the warm-up takes 5,000 steps, but the run has 1,000 steps (1 epoch of 1,000)"));
  CHECK(of_schedule("chain: {parts: [constant: {length: 1, warmup: {steps: 50}}, cosine]}", 3, 7) !=
        "");
  CHECK(of_schedule("constant", 2, 7, "lr_scaling: {linear: {batch: 8}}") != "");
  CHECK(of_schedule("constant", 6, 7, "lr_scaling: {linear: {batch: 8}}") == "");
  CHECK(of_schedule("cosine: {warmup: {steps: 21}}", 3, 7) == "");
  CHECK(schedule_warning(nullptr, {.steps = 7, .all_steps = 21, .epochs = 3}) == "");
}

TEST_CASE("a schedule's last part that the run does not reach is named") {
  CHECK(of_schedule("multistep: {at: [400, 800], by: step}", 3, 7) ==
        "the last part of schedule 'multistep' begins after 800 steps, but the run has 21 steps (3 "
        "epochs of 7): it is never reached");
  CHECK(of_schedule("piecewise: [[0, 1e-3], [3, 1e-4]]", 3, 7) != "");
  CHECK(of_schedule("piecewise: [[0, 1e-3], [2, 1e-4]]", 3, 7) == "");
  const std::string chain =
      "chain: {parts: [linear: {from: 0.2, to: 1, length: 21, by: step}, cosine]}";
  CHECK(of_schedule(chain, 3, 7) != "");
  CHECK(of_schedule(chain, 4, 7) == "");
  CHECK(of_schedule("cosine", 1, 1) == "");
}

TEST_CASE("pixels of 0 to 255 without preprocessing are named, unless a layer normalises them") {
  CHECK(of_scale("[conv: [4, 3], relu, dense: 4]") ==
        "the samples have values of up to 255, which layer 'conv1' (n.yaml:1:29) reads as they "
        "are; most networks learn better from values near 1: add 'preprocess: [scale: $1/255]' to "
        "'data', or begin with bn");
  CHECK(of_scale("[max_pool: 2, flatten, dropout: 0.1, dense: 4]") != "");
  CHECK(of_scale("[concat: [[], [relu]], dense: 4]") != "");
  CHECK(of_scale("[bn, conv: [4, 3], dense: 4]") == "");
  CHECK(of_scale("[scale, dense: 4]") == "");
  CHECK(of_scale("[conv: [4, 3], bn, relu, dense: 4]") == "");
  CHECK(of_scale("[dense: 4]", "[scale: $1/255]") == "");
  CHECK(of_scale("[dense: 4]", "[mean_rgb: [120, 120, 120]]") == "");
}

TEST_CASE("a dense layer that reads a softmax is named") {
  CHECK(softmax_warning(network("[dense: 8, softmax, dense: 4, softmax]")) ==
        "layer 'dense2' (n.yaml:1:48) reads the softmax 'softmax1' (n.yaml:1:39): probabilities "
        "are an output; between layers use relu or another activation");
  CHECK(softmax_warning(network("[dense: 8, relu, dense: 4, softmax]")) == "");
  CHECK(softmax_warning(network("[multiply: [[], [conv: [3, 1], softmax]], dense: 4]")) == "");
}

TEST_CASE("no shipped run has one of these warnings") {
  namespace fs = std::filesystem;
  int runs = 0;
  const RunConfig tiny = read_run(kTinyRun);
  const auto pixels = tiny.data.train.source->open({});
  for (const auto& entry : fs::directory_iterator(fs::path(TY_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const RunConfig run = read_run_config(entry.path(), {});
    // The smallest training split of the shipped data; the pixels stand for any.
    const BatchNumbers batch = batch_numbers(run, 1, 25'000);
    CHECK(schedule_warning(schedule_of(run, batch.global).get(), batch) == "");
    const Graph graph = build_whole_network(run, batch.replica);
    const bool sequences = run.data.train.source->name() == "synthetic_sequences";
    const auto drawn = sequences ? run.data.train.source->open({}) : nullptr;
    CHECK(scale_warning(run.data, sequences ? *drawn : *pixels, graph) == "");
    CHECK(softmax_warning(graph) == "");
    ++runs;
  }
  CHECK(runs >= 25);
}
