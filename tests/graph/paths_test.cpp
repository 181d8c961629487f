// Paths of layers.
#include <doctest/doctest.h>

#include <algorithm>

#include "support.h"

namespace trainyard {
namespace {

using namespace test;
using Paths = std::vector<std::string>;

// Blocks with a branch that call each other.
const std::string kUnitBlocks = R"(
input: [4, 8, 8]
blocks:
  cbr: {args: [f, act=relu], layers: [conv: [$f, 1], bn, act: $act]}
  unit: {args: [f], layers: [add: [[cbr: $f, cbr: {f: $f, act: none}], []], relu]}
)";

TEST_CASE("a path names the parents and counts same-named siblings from 1, branches from 0") {
  const Graph graph = build(kUnitBlocks + "layers: [cbr: 4, unit: 4, unit: 4]\n");
  CHECK(paths(graph) == Paths{"cbr1.conv1", "cbr1.bn1", "cbr1.relu1", "unit1.add1.0.cbr1.conv1",
                              "unit1.add1.0.cbr1.bn1", "unit1.add1.0.cbr1.relu1",
                              "unit1.add1.0.cbr2.conv1", "unit1.add1.0.cbr2.bn1", "unit1.add1",
                              "unit1.relu1", "unit2.add1.0.cbr1.conv1", "unit2.add1.0.cbr1.bn1",
                              "unit2.add1.0.cbr1.relu1", "unit2.add1.0.cbr2.conv1",
                              "unit2.add1.0.cbr2.bn1", "unit2.add1", "unit2.relu1"});
}

TEST_CASE("repeat, for and if add nothing to a path") {
  const Graph graph = build(R"(
input: [4, 8, 8]
layers:
  - repeat: {times: 2, layers: [conv: [4, 1]]}
  - for: {i: [1, 2]}
    layers: [conv: [$i, 1], {relu: , if: $i == 2}]
  - {conv: [4, 1], if: true}
)");
  CHECK(paths(graph) == Paths{"conv1", "conv2", "conv3", "conv4", "relu1", "conv5"});
}

TEST_CASE("an edit under one parent does not change paths under the others") {
  const Graph before = build(kUnitBlocks + "layers: [unit: 4, unit: 4]\n");
  // One more layer inside the first unit: another block with another body.
  const Graph after = build(kUnitBlocks + R"(
  wide: {args: [f], layers: [add: [[conv: [$f, 1], bn, cbr: $f], []], relu, dropout: 0.1]}
layers: [wide: 4, unit: 4, unit: 4]
)");
  const Paths names = paths(after);
  for (const std::string& path : paths(before)) {
    CHECK(std::count(names.begin(), names.end(), path) == 1);
  }
  CHECK(after.nodes.size() > before.nodes.size());
}

TEST_CASE("all paths of the shipped networks differ") {
  for (const char* file :
       {"models/minigooglenet.yaml", "models/minigooglenet_aux.yaml", "models/resnet_cifar.yaml"}) {
    Paths names = paths(test::build_file(file));
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  }
}

TEST_CASE("ResNet's paths match the documented ones") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml");
  CHECK(test::node_at(graph, "stage2.unit3.add1.0.cbr1.conv1").op->type() == "conv");
  CHECK(test::node_at(graph, "stage2.unit1.add1.1.conv1").op->type() == "conv");
}

TEST_CASE("a node knows the line of its item and of the outermost call") {
  const Graph graph = build(kUnitBlocks + "layers:\n  - relu\n  - unit: 4\n");
  const Node& conv = test::node_at(graph, "unit1.add1.0.cbr2.conv1");
  CHECK(conv.where.line == 4);
  CHECK(conv.called_from.line == 8);
  CHECK_FALSE(test::node_at(graph, "relu1").called_from.known());
}

}  // namespace
}  // namespace trainyard
