// The network language: blocks, repeat, for, if, branches, as and from.
#include <doctest/doctest.h>

#include "ops/convolution.h"
#include "support.h"

namespace trainyard {
namespace {

using namespace test;

TEST_CASE("each item feeds the next and the last one is the output") {
  const Graph graph =
      build("{input: [3, 9, 9], layers: [conv: [5, 3], relu, dense: 7]}", {.batch = 2});
  REQUIRE(graph.nodes.size() == 3);
  CHECK(graph.values.at(0).shape == Shape{2, 3, 9, 9});
  CHECK(graph.inputs == std::vector<ValueId>{0});
  CHECK(graph.nodes[0].inputs == std::vector<ValueId>{0});
  CHECK(graph.nodes[1].inputs == graph.nodes[0].outputs);
  CHECK(graph.nodes[2].inputs == graph.nodes[1].outputs);
  CHECK(graph.output == graph.nodes[2].outputs.at(0));
  CHECK(output_of(graph) == Shape{2, 7});
}

TEST_CASE("an input may be a row of features") {
  CHECK(output_of(build("{input: [6], layers: [dense: 4]}", {.batch = 3})) == Shape{3, 4});
}

TEST_CASE("block arguments bind by position and by name, and defaults may use earlier ones") {
  const Graph graph = build(R"(
vars: {base: 4}
input: [3, 9, 9]
blocks:
  c: {args: [f, k=3, s=$k - 2, g=$base - 3], layers: [conv: {filters: $f, kernel: $k, stride: $s, groups: $g}]}
layers: [c: 6, c: [8, 1, 2], c: {f: $base * 2, s: 1}]
)");
  CHECK(conv_at(graph, "c1.conv1").filters == 6);
  CHECK(conv_at(graph, "c1.conv1").kernel == config::Pair{3, 3});
  CHECK(conv_at(graph, "c1.conv1").stride == config::Pair{1, 1});
  CHECK(conv_at(graph, "c2.conv1").kernel == config::Pair{1, 1});
  CHECK(conv_at(graph, "c2.conv1").stride == config::Pair{2, 2});
  CHECK(conv_at(graph, "c3.conv1").filters == 8);
  CHECK(conv_at(graph, "c3.conv1").groups == 1);
}

TEST_CASE("a block sees variables and its own arguments, not those of its caller") {
  const std::string message = test::message_of(R"(
input: [3, 9, 9]
blocks:
  inner: {layers: [conv: [$f, 1]]}
  outer: {args: [f], layers: [inner]}
layers: [outer: 3]
)");
  CHECK(message.starts_with("net.yaml:4:27: layer 'outer1.inner1.conv1': "));
  CHECK(message.find("'f'") != std::string::npos);
}

TEST_CASE("variables may build on earlier ones and be lists") {
  const Graph graph = build(R"(
vars: {a: 2, sizes: [3, "$a * 4"]}
input: [1, 5, 5]
layers:
  - for: {f: $sizes}
    layers: [conv: [$f, 1]]
)");
  CHECK(conv_at(graph, "conv1").filters == 3);
  CHECK(conv_at(graph, "conv2").filters == 8);
}

TEST_CASE("variables may be maps, and expressions read their fields and elements") {
  const Graph graph = build(R"(
vars: {widths: [4, 6], stem: {f: 8, shape: {k: 3}}}
input: [1, 9, 9]
layers:
  - conv: {filters: $stem.f, kernel: $stem.shape.k}
  - conv:
      filters: $widths[1]
      kernel: 1
  - conv: ["$widths[0] * 2", 1]
)");
  CHECK(conv_at(graph, "conv1").filters == 8);
  CHECK(conv_at(graph, "conv1").kernel == config::Pair{3, 3});
  CHECK(conv_at(graph, "conv2").filters == 6);
  CHECK(conv_at(graph, "conv3").filters == 8);
}

TEST_CASE("for goes over maps, and a map gives a layer or a block its keys") {
  const Graph graph = build(R"(
vars: {units: [{f: 4, n: 2}, {f: 6, n: 1}], last: {filters: 2, kernel: 1}}
input: [1, 5, 5]
blocks: {unit: {args: [f, n], layers: [repeat: {times: $n, layers: [conv: [$f, 1]]}]}}
layers:
  - for: {u: $units}
    layers:
      - repeat: {times: $u.n, layers: [conv: [$u.f, 1]]}
  - for: {u: [{f: 3, n: 1}]}
    layers: [unit: $u]
  - conv: $last
)");
  CHECK(graph.nodes.size() == 5);
  CHECK(conv_at(graph, "conv2").filters == 4);
  CHECK(conv_at(graph, "conv3").filters == 6);
  CHECK(conv_at(graph, "unit1.conv1").filters == 3);
  CHECK(conv_at(graph, "conv4").filters == 2);
}

TEST_CASE("repeat and for nest, and repeat zero times adds nothing") {
  const Graph graph = build(R"(
input: [1, 5, 5]
layers:
  - for: {i: [1, 2]}
    layers:
      - repeat: {times: $i, layers: [conv: [$i, 1]]}
  - repeat: {times: 0, layers: [conv: [99, 1]]}
)");
  REQUIRE(graph.nodes.size() == 3);
  CHECK(conv_at(graph, "conv1").filters == 1);
  CHECK(conv_at(graph, "conv3").filters == 2);
}

TEST_CASE("act is the named layer, none is nothing, and a block may be an act") {
  const Graph graph = build(R"(
vars: {which: sigmoid}
input: [3, 5, 5]
blocks: {gate: {layers: [relu, relu]}}
layers: [act: relu, act: none, act: $which, act: gate, dense: 2]
)");
  CHECK(test::paths(graph) ==
        std::vector<std::string>{"relu1", "sigmoid1", "gate1.relu1", "gate1.relu2", "dense1"});
}

TEST_CASE("branches start from the item's input and an empty one is that input") {
  const Graph graph = build(R"(
input: [3, 5, 5]
layers:
  - relu
  - add: [[conv: [3, 1]], [], [{conv: [9, 1], if: false}]]
  - concat: [[conv: [2, 1]], [conv: [4, 1]]]
  - multiply: [[relu], []]
  - average: [[relu], []]
)");
  const ValueId relu = node_at(graph, "relu1").outputs.at(0);
  const Node& add = node_at(graph, "add1");
  CHECK(node_at(graph, "add1.0.conv1").inputs == std::vector<ValueId>{relu});
  REQUIRE(add.inputs.size() == 3);
  CHECK(add.inputs[1] == relu);
  CHECK(add.inputs[2] == relu);
  CHECK(output_of(graph) == Shape{1, 6, 5, 5});
}

TEST_CASE("multiply scales the channels of a map, whichever branch gives the factors") {
  const Graph graph = build(R"(
input: [6, 5, 5]
layers:
  - multiply: [[], [global_avg_pool, dense: 6, sigmoid]]
  - multiply: [[{avg_pool: 5}, {conv: [6, 1]}, sigmoid], []]
)");
  CHECK(output_of(graph) == Shape{1, 6, 5, 5});
  const std::string message = test::message_of(R"(
input: [6, 5, 5]
layers:
  - add: [[], [global_avg_pool, dense: 6]]
)");
  CHECK(message.find("branches differ: [1, 6, 5, 5] from branch 0, [1, 6] from branch 1") !=
        std::string::npos);
}

TEST_CASE("as and from make arbitrary edges") {
  const Graph graph = build(R"(
input: [4, 8, 8]
layers:
  - {conv: [4, 1], as: stem}
  - {relu: , as: second}
  - {add: , from: [stem, stem], as: sum}
  - {relu: , from: stem, as: last}
  - add: [[{sigmoid: , from: last}], [], [{add: , from: [second, sum]}]]
)");
  const ValueId stem = node_at(graph, "conv1").outputs.at(0);
  CHECK(node_at(graph, "add1").inputs == std::vector<ValueId>{stem, stem});
  CHECK(node_at(graph, "relu2").inputs == std::vector<ValueId>{stem});
  CHECK(node_at(graph, "add2.0.sigmoid1").inputs == node_at(graph, "relu2").outputs);
}

TEST_CASE("a name in a repeat refers to its newest value") {
  const Graph graph = build(R"(
input: [4, 8, 8]
layers:
  - repeat: {times: 3, layers: [{conv: [4, 1], as: newest}]}
  - {relu: , from: newest}
)");
  CHECK(node_at(graph, "relu1").inputs == node_at(graph, "conv3").outputs);
}

TEST_CASE("names inside a block belong to that call") {
  const Graph graph = build(R"(
input: [4, 8, 8]
blocks: {skip: {layers: [{relu: , as: in}, {conv: [4, 1], as: out}, {add: , from: [in, out]}]}}
layers: [skip, skip]
)");
  CHECK(node_at(graph, "skip2.add1").inputs.at(0) == node_at(graph, "skip2.relu1").outputs.at(0));
}

}  // namespace
}  // namespace trainyard
