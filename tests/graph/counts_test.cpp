// Parameters and multiply-adds of the shipped networks. Sources: the published networks (counts of
// Keras's own summaries and of the papers), and for scripts/bench the counts of sum(p.numel() for p
// in model.parameters()) for the peer's networks in PyTorch.
#include <doctest/doctest.h>

#include "support.h"

namespace trainyard {
namespace {

struct Expected {
  std::int64_t trainable, total, multiply_adds;
};

void check_counts(const Graph& graph, const Expected& expected) {
  const GraphTotals sums = totals(graph);
  CHECK(sums.parameters_trainable == expected.trainable);
  CHECK(sums.parameters_total == expected.total);
  CHECK(sums.multiply_adds == expected.multiply_adds);
}

TEST_CASE("MiniGoogLeNet has 1,652,826 trainable of 1,656,250 parameters") {
  const Graph graph = test::build_file("models/minigooglenet.yaml");
  check_counts(graph, {1'652'826, 1'656'250, 234'597'920});
  CHECK(test::output_of(graph) == Shape{1, 10});
}

TEST_CASE("MiniGoogLeNet without batch norm has Zhang's 1,649,402 parameters") {
  const Graph graph = test::build_file("models/minigooglenet.yaml");
  std::int64_t without = 0;
  for (const Node& node : graph.nodes) {
    if (node.op->type() == "bn") continue;
    for (const ParameterSpec& parameter : node.signature.parameters) {
      without += parameter.shape.elements();
    }
  }
  CHECK(without == 1'649'402);
}

TEST_CASE("Keras's ResNet v1 has the published counts at every depth") {
  const auto at = [](int n) {
    return test::build_file("models/resnet_cifar.yaml", "n: " + std::to_string(n));
  };
  check_counts(at(3), {273'066, 274'442, 40'813'184});
  check_counts(at(5), {467'946, 470'218, 69'124'736});
  check_counts(at(7), {662'826, 665'994, 97'436'288});
  check_counts(at(9), {857'706, 861'770, 125'747'840});
  check_counts(at(18), {1'734'666, 1'742'762, 253'149'824});
}

TEST_CASE("ResNet v1 with n = 18 has 109 convolutions on its main path and 2 on shortcuts") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml", "n: 18");
  int main_path = 0, shortcuts = 0;
  for (const Node& node : graph.nodes) {
    if (node.op->type() != "conv") continue;
    node.path.find("add1.1.") == std::string::npos ? ++main_path : ++shortcuts;
  }
  CHECK(main_path == 109);
  CHECK(shortcuts == 2);
}

TEST_CASE("Keras's CNN has 1,250,858 parameters") {
  const GraphTotals sums = totals(test::build_file("models/keras_cnn.yaml"));
  CHECK(sums.parameters_trainable == 1'250'858);
  CHECK(sums.parameters_total == 1'250'858);
}

// ResNeXt-29 for CIFAR (Xie et al. 2017) in the network language.
const char* const kResnext = R"(
vars: {card: 8, width: 64, n: 3, classes: 10}
input: [3, 32, 32]
defaults: {conv: {pad: same_symmetric, bias: false, init: he_normal}, bn: {momentum: 0.9, eps: 1e-5}}
blocks:
  cb:
    args: [f, k=1, s=1, g=1, act=relu]
    layers: [conv: {filters: $f, kernel: $k, stride: $s, groups: $g}, bn, act: $act]
  unit:
    args: [mid, out, s=1, project=false]
    layers:
      - add:
          - [cb: $mid, cb: {f: $mid, k: 3, s: $s, g: $card}, cb: {f: $out, act: none}]
          - [{cb: {f: $out, s: $s, act: none}, if: $project}]
      - relu
layers:
  - cb: {f: 64, k: 3}
  - for: {i: [0, 1, 2]}
    layers:
      - unit: {mid: $card * width * 2**i, out: $256 * 2**i, s: $1 if i == 0 else 2, project: true}
      - repeat: {times: $n - 1, layers: [unit: {mid: $card * width * 2**i, out: $256 * 2**i}]}
  - global_avg_pool
  - dense: $classes
  - softmax
)";

TEST_CASE("ResNeXt-29 has the published 34,426,698 and, twice as wide, 68,155,210 parameters") {
  CHECK(totals(test::build(kResnext)).parameters_trainable == 34'426'698);
  const config::Node network = config::parse_yaml(kResnext, "resnext.yaml");
  const config::Node vars = config::parse_yaml("card: 16", "vars");
  config::Diagnostics diagnostics;
  const Graph wide = build_graph(with_overrides(network, &vars, nullptr, diagnostics), {});
  CHECK(totals(wide).parameters_trainable == 68'155'210);
}

TEST_CASE("the small CNNs stay small") {
  CHECK(totals(test::build_file("models/shapes_cnn.yaml")).multiply_adds < 25'000'000);
  CHECK(totals(test::build_file("models/fashion_cnn.yaml")).multiply_adds < 25'000'000);
}

TEST_CASE("multiply-adds are per sample, whatever the batch") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml", "n: 3", {.batch = 128});
  CHECK(totals(graph).multiply_adds == 40'813'184);
  CHECK(test::output_of(graph) == Shape{128, 10});
}

TEST_CASE("the networks of the speed comparison have the peer's parameter counts") {
  const auto trainable = [](const std::string& name) {
    const std::string path = std::string(TY_SOURCE_DIR) + "/scripts/bench/" + name;
    const config::Node run = config::load_run(path, {}, {});
    const config::Node* network = run.find("network");
    REQUIRE(network != nullptr);
    return totals(build_graph(*network, {})).parameters_trainable;
  };
  CHECK(trainable("resnet20.yaml") == 272'474);
  CHECK(trainable("minigooglenet.yaml") == 1'652'826);
  CHECK(trainable("cnn.yaml") == 1'250'858);
}

TEST_CASE("a frozen node's parameters count only in the total") {
  Graph graph = test::build("{input: [4], layers: [dense: 3, dense: 2]}");
  graph.nodes[0].frozen = true;
  CHECK(totals(graph).parameters_total == 15 + 8);
  CHECK(totals(graph).parameters_trainable == 8);
}

}  // namespace
}  // namespace trainyard
