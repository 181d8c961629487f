// freeze:, freeze_statistics: and lr_mult: of a run.
#include "run/config/layer_overrides.h"

#include <doctest/doctest.h>

#include "../graph/support.h"
#include "config/load.h"
#include "ops/loss.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const char* const kRuledNetwork = R"(
input: [3, 6, 6]
blocks:
  cbr: {args: [f], layers: [conv: [$f, 3], bn, relu]}
layers:
  - {cbr: 4, as: a}
  - {dense: 5, as: b}
  - tanh
  - {dense: 5}
  - {dense: 5, share: dense2}
  - dense: 3
  - softmax
)";

RunConfig run_with(const std::string& freeze, const std::string& factors) {
  RunConfig run;
  run.network = config::parse_yaml(kRuledNetwork, "net.yaml");
  run.loss = std::make_unique<LossOp>("cross_entropy", LossAttributes{});
  run.freeze = config::parse_yaml(freeze, "run.yaml");
  run.lr_mult = config::parse_yaml(factors, "run.yaml");
  return run;
}

std::vector<std::string> frozen_paths(const Graph& graph) {
  std::vector<std::string> paths;
  for (const Node& node : graph.nodes) {
    if (node.frozen) paths.push_back(node.path);
  }
  return paths;
}

using Paths = std::vector<std::string>;

RunConfig run_fixing(const std::string& patterns) {
  RunConfig run = run_with("[]", "{}");
  run.freeze_statistics = config::parse_yaml(patterns, "run.yaml");
  return run;
}

}  // namespace

TEST_CASE("a pattern matches a layer, its contents, or whatever a star stands for") {
  CHECK(names_layer("stage1.conv1", "stage1.conv1"));
  CHECK(names_layer("stage1", "stage1.conv1"));
  CHECK(names_layer("stage*", "stage1.unit2.conv1"));
  CHECK(names_layer("*.bn?", "stage1.unit2.bn1"));
  CHECK_FALSE(names_layer("stage1", "stage11.conv1"));
  CHECK_FALSE(names_layer("conv1", "stage1.conv1"));
  CHECK_FALSE(names_layer("stage1.conv", "stage1.conv1"));
  CHECK_FALSE(names_layer("", "conv1"));
}

TEST_CASE(
    "freeze applies to the layers that its patterns match, and to sharing layers with their "
    "owner") {
  CHECK(frozen_paths(build_network(run_with("[cbr1]", "{}"), 2)) ==
        Paths{"cbr1.conv1", "cbr1.bn1"});
  CHECK(frozen_paths(build_network(run_with("['*.bn1', dense2]", "{}"), 2)) ==
        Paths{"cbr1.bn1", "dense2", "dense3"});
  CHECK(frozen_paths(build_network(run_with("[]", "{}"), 2)).empty());
  const Graph graph = build_network(run_with("[cbr1]", "{}"), 2);
  CHECK(totals(graph).parameters_total - totals(graph).parameters_trainable ==
        (4 * 3 * 9 + 4) + 8 + 8);
}

TEST_CASE(
    "lr_mult multiplies the learning rates of the layers that its patterns match, the last one "
    "counts") {
  const Graph graph = build_network(run_with("[]", "{dense*: 0.5, dense4: 10, cbr1.conv1: 0}"), 2);
  CHECK(node_at(graph, "dense1").rate_multiplier == 0.5);
  CHECK(node_at(graph, "dense2").rate_multiplier == 0.5);
  CHECK(node_at(graph, "dense4").rate_multiplier == 10);
  CHECK(node_at(graph, "cbr1.conv1").rate_multiplier == 0);
  CHECK(node_at(graph, "cbr1.bn1").rate_multiplier == 1);
}

TEST_CASE("freeze_statistics applies to the batch norms that its patterns match") {
  for (const char* patterns : {"['*']", "[cbr1]", "['*.bn?']"}) {
    const Graph graph = build_network(run_fixing(patterns), 2);
    CHECK(node_at(graph, "cbr1.bn1").op->attributes().ends_with(", fixed: true}"));
    for (const StatisticSpec& statistic : node_at(graph, "cbr1.bn1").signature.statistics) {
      CHECK(statistic.momentum == 1);
    }
    CHECK(frozen_paths(graph).empty());
  }
  const auto message = [](const std::string& patterns) -> std::string {
    try {
      (void)build_network(run_fixing(patterns), 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("[]").empty());
  CHECK(message("[cbr2, dense1]") ==
        "run.yaml:1:2: freeze_statistics: no layer with running statistics is named by 'cbr2'; did "
        "you mean 'cbr1'?\n"
        "run.yaml:1:8: freeze_statistics: no layer with running statistics is named by 'dense1'");
  CHECK(message("true") ==
        "run.yaml:1:1: freeze_statistics: expected a list of layers, found true");
}

TEST_CASE("fixed statistics keep their bits in ten steps, and a bias before them is trained") {
  const auto executors = make_reference_executors();
  const auto train = [&](const std::string& patterns) {
    const Graph network = build_network(run_fixing(patterns), 6);
    TrainingGraph graph = training_graph(config::parse_yaml(kRuledNetwork, "net.yaml"), 6);
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      graph.graph.nodes[i].op = network.nodes[i].op;
      graph.graph.nodes[i].signature = network.nodes[i].signature;
    }
    return train_ten_steps(graph, reference_target(Precision::fp64), *executors);
  };
  const Trained fixed = train("['*']"), free = train("[]");
  CHECK(fixed.running == std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(free.running != fixed.running);
  CHECK(fixed.weights != free.weights);
}

TEST_CASE("impossible rules are refused, all at once, each at its position") {
  const auto message = [](const std::string& freeze, const std::string& factors) -> std::string {
    try {
      (void)build_network(run_with(freeze, factors), 2);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("[dens1, tanh1]", "{}") ==
        "run.yaml:1:2: freeze: no layer with parameters is named by 'dens1'; did you mean "
        "'dense1'?\n"
        "run.yaml:1:9: freeze: no layer with parameters is named by 'tanh1'");
  CHECK(message("cbr1", "{}") ==
        "run.yaml:1:1: freeze: expected a list of layers, found text "
        "'cbr1'");
  CHECK(message("[]", "[cbr1, 2]") ==
        "run.yaml:1:1: lr_mult: expected a map of layers to factors, found a list");
  CHECK(message("[]", "{cbr1: -1, cbr2: 1}") ==
        "run.yaml:1:8: lr_mult: expected a factor of at least 0, found number -1\n"
        "run.yaml:1:12: lr_mult: no layer with parameters is named by 'cbr2'; did you mean "
        "'cbr1'?");
  CHECK(message("[]", "{cbr1: fast}") ==
        "run.yaml:1:8: lr_mult: expected a factor of at least 0, found text 'fast'");
}

TEST_CASE("frozen parameters keep their bits and others train unchanged; a factor scales") {
  const auto executors = make_reference_executors();
  const Target target = reference_target(Precision::fp64);
  const auto train = [&](const std::string& freeze, const std::string& factors) {
    const Graph network = build_network(run_with(freeze, factors), 6);
    TrainingGraph graph = training_graph(config::parse_yaml(kRuledNetwork, "net.yaml"), 6);
    for (std::size_t i = 0; i < network.nodes.size(); ++i) {
      graph.graph.nodes[i].frozen = network.nodes[i].frozen;
      graph.graph.nodes[i].rate_multiplier = network.nodes[i].rate_multiplier;
    }
    return train_ten_steps(graph, target, *executors);
  };
  const Trained held = train("['*']", "{}");
  const Trained by_factor = train("[]", "{'*': 0}");
  CHECK(held.weights == by_factor.weights);
  CHECK(held.losses == by_factor.losses);
  const Trained free = train("[]", "{}");
  CHECK(held.losses[0] == free.losses[0]);
  CHECK(held.weights != free.weights);
  // Only the batch norm, whose gradients are computed along with its input's.
  const Trained norm_held = train("['*.bn1']", "{}");
  CHECK(norm_held.weights == train("[]", "{'*.bn1': 0}").weights);
  CHECK(norm_held.weights != free.weights);
}

TEST_CASE("a run that freezes every layer is warned that nothing is learnt") {
  CHECK(frozen_warning(build_network(run_with("['*']", "{}"), 2)) ==
        "'freeze' names every layer with parameters: nothing is learnt");
  CHECK(frozen_warning(build_network(run_with("[cbr1]", "{}"), 2)).empty());
}

namespace {

RunConfig run_closing_with(const char* loss, const std::string& closing) {
  RunConfig run;
  run.network = config::parse_yaml(
      "{input: [4], layers: [dense: 3" + (closing.empty() ? "" : ", " + closing) + "]}",
      "net.yaml");
  run.loss = std::make_unique<LossOp>(loss, LossAttributes{});
  return run;
}

std::vector<std::string> trained_layers(const char* loss, const std::string& closing) {
  std::vector<std::string> paths;
  for (const Node& node : build_network(run_closing_with(loss, closing), 2).nodes) {
    paths.push_back(node.path);
  }
  return paths;
}

std::string closing_refusal(const char* loss, const std::string& closing) {
  try {
    (void)build_network(run_closing_with(loss, closing), 2);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a closing activation is computed once: by the loss that includes it, or as a layer") {
  CHECK(trained_layers("cross_entropy", "softmax") == Paths{"dense1"});
  CHECK(trained_layers("cross_entropy", "") == Paths{"dense1"});
  CHECK(trained_layers("binary_cross_entropy", "sigmoid") == Paths{"dense1"});
  CHECK(trained_layers("mse", "softmax") == Paths{"dense1", "softmax1"});
  CHECK(trained_layers("mse", "sigmoid") == Paths{"dense1", "sigmoid1"});
  CHECK(trained_layers("mse", "") == Paths{"dense1"});
}

TEST_CASE("a closing activation that contradicts the loss is refused with the matching pair") {
  CHECK(closing_refusal("cross_entropy", "sigmoid") ==
        "net.yaml:1:33: layer 'sigmoid1': the network ends with sigmoid, but the loss "
        "cross_entropy includes a softmax; set 'loss: binary_cross_entropy' for sigmoid, or end "
        "with softmax for cross_entropy");
  CHECK(closing_refusal("binary_cross_entropy", "softmax") ==
        "net.yaml:1:33: layer 'softmax1': the network ends with softmax, but the loss "
        "binary_cross_entropy includes a sigmoid; set 'loss: cross_entropy' for softmax, or end "
        "with sigmoid for binary_cross_entropy");
}
