// The drawing of a network: what its boxes say, and their edges.
#include "graph/figure.h"

#include <doctest/doctest.h>

#include "support.h"

namespace trainyard {
namespace {

const char* const kNetwork = R"(
input: [3, 16, 16]
defaults: {conv: {pad: same_upper}}
blocks:
  cbr: {args: [f, k, s=1], layers: [conv: {filters: $f, kernel: $k, stride: $s}, bn, relu]}
  unit:
    args: [f]
    layers: [add: [[cbr: [$f, 3], cbr: [$f, 1]], []], relu]
layers:
  - cbr: [8, 3, 2]
  - unit: 8
  - unit: 8
  - unit: 8
  - concat: [[max_pool: 2], [avg_pool: 2]]
  - global_avg_pool
  - dropout: 0.5
  - dense: 10
  - softmax
)";

std::vector<std::string> first_lines(const std::vector<FigureBox>& column) {
  std::vector<std::string> lines;
  for (const FigureBox& box : column) lines.push_back(box.lines.at(0));
  return lines;
}

TEST_CASE("the outline nests layers as the file does") {
  const auto items = outline(test::build(kNetwork));
  REQUIRE(items.size() == 8);
  CHECK(items[1].path == "unit1");
  REQUIRE(items[1].items.size() == 2);
  const OutlineItem& add = items[1].items[0];
  CHECK(add.path == "unit1.add1");
  CHECK(add.items.empty());
  REQUIRE(add.branches.size() == 2);
  CHECK(add.branches[0].size() == 2);
  CHECK(add.branches[0][1].path == "unit1.add1.0.cbr2");
  CHECK(add.branches[1].empty());
}

TEST_CASE("a figure has a box for each item, equal ones as one, and each kind of block once") {
  const Figure figure = figure_of(test::build(kNetwork), "small");
  CHECK(figure.title == "small");
  CHECK(first_lines(figure.network) ==
        std::vector<std::string>{"input", "conv 3×3 /2, bn, relu", "unit1 … unit3", "concat",
                                 "global_avg_pool", "dropout 0.5", "dense"});
  CHECK(figure.network[1].lines[1] == "[8, 8, 8]");
  CHECK(figure.network[1].kind == BoxKind::weights);
  CHECK(figure.network[2].times == 3);
  CHECK(figure.network[2].kind == BoxKind::block);
  const FigureBox& concat = figure.network[3];
  REQUIRE(concat.branches.size() == 2);
  CHECK(first_lines(concat.branches[0]) == std::vector<std::string>{"max_pool 2×2 /2"});
  CHECK(concat.lines[1] == "[16, 4, 4]");
  REQUIRE(figure.blocks.size() == 1);
  const FigureBlock& unit = figure.blocks[0];
  CHECK(unit.title == "unit1");
  CHECK(unit.others == std::vector<std::string>{"unit2", "unit3"});
  CHECK(first_lines(unit.column) == std::vector<std::string>{"add", "relu"});
  CHECK(unit.column[0].branches[1].empty());
  CHECK(first_lines(unit.column[0].branches[0]) ==
        std::vector<std::string>{"conv 3×3, bn, relu", "conv 1×1, bn, relu"});
}

TEST_CASE("a box says what it reads if that is not above it, and the outputs that it gives") {
  const Figure figure = figure_of(test::build(R"(
input: [6]
layers:
  - {dense: 8, as: trunk}
  - {dense: 4, as: aux}
  - {relu: , from: trunk, as: r}
  - {add: , from: [r, trunk]}
  - dense: 3
outputs: [aux]
)"),
                                  "outputs");
  REQUIRE(figure.network.size() == 6);
  CHECK(figure.network[2].lines == std::vector<std::string>{"dense", "[4]", "output aux"});
  CHECK(figure.network[3].lines == std::vector<std::string>{"relu", "[8]", "reads dense1"});
  CHECK_FALSE(figure.network[3].chained);
  CHECK(figure.network[4].chained);
  CHECK(figure.network[4].lines[2] == "reads dense1");
}

TEST_CASE("blocks that differ in kernels, strides or branches are drawn apart") {
  const Figure figure = figure_of(test::build_file("models/keras_resnet50.yaml"), "ResNet-50");
  CHECK(first_lines(figure.network) ==
        std::vector<std::string>{"input", "conv 7×7 /2", "bn", "relu", "max_pool 3×3 /2", "unit1",
                                 "unit2 … unit3", "unit4", "unit5 … unit7", "unit8",
                                 "unit9 … unit13", "unit14", "unit15 … unit16", "global_avg_pool",
                                 "dense"});
  REQUIRE(figure.blocks.size() == 3);  // stride 1 with a projection, without, stride 2
  CHECK(figure.blocks[2].title == "unit4");
  CHECK(figure.blocks[2].others == std::vector<std::string>{"unit8", "unit14"});
}

TEST_CASE("the drawing has a box for each of the figure's, an edge for each branch, and frames") {
  const std::string dot = dot_text(figure_of(test::build(kNetwork), "a < b & \"c\""));
  const auto has = [&dot](const char* text) { return dot.find(text) != std::string::npos; };
  CHECK(dot.starts_with("digraph {\n"));
  CHECK(dot.ends_with("}\n"));
  CHECK(has("label=\"a < b & \\\"c\\\"\\n"));
  CHECK(has("b1 [label=\"conv 3×3 /2, bn, relu\\n[8, 8, 8]\""));
  CHECK(has("b0 -> b1\n"));
  CHECK(has("b2 [label=\"unit1 … unit3\\n[8, 8, 8] × 3\""));
  CHECK(has("peripheries=2"));
  // concat reads its two branches, of which each reads what is above them.
  CHECK(has("b2 -> b4\nb4 -> b3\n"));
  CHECK(has("b2 -> b5\nb5 -> b3\n"));
  CHECK(has("label=\"unit1\\nalso unit2, unit3\""));
}

}  // namespace
}  // namespace trainyard
