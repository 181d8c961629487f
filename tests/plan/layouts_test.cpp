#include <doctest/doctest.h>

#include "fake_network.h"
#include "plan/passes.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

FakeTraits dense_like() {
  return {.type = "dense",
          .contract = {.backward_reads_inputs = true, .layouts = Contract::Layouts::plain},
          .parameter_elements = 10,
          .output = Shape{4, 10}};
}

int count_reorders(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes) count += node.op->type() == "reorder" ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a convolution gives the target's layout and elementwise ops keep it") {
  FakeNetwork network({4, 3, 8, 8});
  const ValueId conv = network(conv_like(), {0});
  const ValueId relu = network(relu_like(), {conv});
  const LaidOutGraph laid_out = assign_layouts(network.graph, cpu_target(true));
  CHECK(text_of(laid_out.layouts[laid_out.renamed[0]]) == "nchw");
  CHECK(text_of(laid_out.layouts[laid_out.renamed[conv]]) == "nChw16c");
  CHECK(text_of(laid_out.layouts[laid_out.renamed[relu]]) == "nChw16c");
  CHECK(count_reorders(laid_out.graph) == 0);
}

TEST_CASE("a plain op after a blocked map gets one reorder, however many nodes read it") {
  FakeNetwork network({4, 3, 8, 8});
  const ValueId conv = network(conv_like(), {0});
  network(dense_like(), {conv});
  network(dense_like(), {conv});
  const LaidOutGraph laid_out = assign_layouts(network.graph, cpu_target(true));
  CHECK(count_reorders(laid_out.graph) == 1);
}

TEST_CASE("the reference target needs no reorder") {
  FakeNetwork network({4, 3, 8, 8});
  network(dense_like(), {network(conv_like(), {0})});
  CHECK(count_reorders(assign_layouts(network.graph, reference_target(Precision::fp64)).graph) ==
        0);
}

TEST_CASE("a sum of a plain and a blocked map takes the layout of its first input") {
  FakeNetwork network({4, 16, 8, 8});
  const ValueId conv = network(conv_like(), {0});
  const ValueId sum = network(add_like(), {conv, 0});
  const LaidOutGraph laid_out = assign_layouts(network.graph, cpu_target(true));
  CHECK(text_of(laid_out.layouts[laid_out.renamed[sum]]) == "nChw16c");
  CHECK(count_reorders(laid_out.graph) == 1);
}

TEST_CASE("a product of factors and a map keeps the map's layout, whichever comes first") {
  for (const bool map_first : {true, false}) {
    FakeNetwork network({4, 16, 8, 8});
    const ValueId map = network(conv_like(), {0});
    FakeTraits factors = dense_like();
    factors.output = Shape{4, 16};
    const ValueId scale = network(factors, {0});
    const FakeTraits multiply{.type = "multiply", .output = Shape{4, 16, 8, 8}};
    const ValueId product =
        map_first ? network(multiply, {map, scale}) : network(multiply, {scale, map});
    const LaidOutGraph laid_out = assign_layouts(network.graph, cpu_target(true));
    CHECK(text_of(laid_out.layouts[laid_out.renamed[product]]) == "nChw16c");
    CHECK(text_of(laid_out.layouts[laid_out.renamed[scale]]) == "nc");
    CHECK(count_reorders(laid_out.graph) == 0);
  }
}

namespace {

FakeTraits rows_like(const Shape& output = {}) {
  return {.type = "rows",
          .contract = {.backward_reads_inputs = true, .layouts = Contract::Layouts::rows},
          .output = output};
}

const std::vector<Target> kEveryTarget{cpu_target(true), cpu_target(false),
                                       cuda_target(Precision::fp32), cuda_target(Precision::bf16),
                                       reference_target(Precision::fp64)};

}  // namespace

TEST_CASE("ops of rows take and give sequences in n, t, c order on every target") {
  for (const Target& target : kEveryTarget) {
    CAPTURE(target.name);
    FakeNetwork network({4, 5, 1, 7});
    const ValueId first = network(rows_like({4, 6, 1, 7}), {0});
    const ValueId second = network(rows_like({4, 9, 1, 7}), {first});
    const ValueId last = network(rows_like({4, 9}), {second});
    const LaidOutGraph laid_out = assign_layouts(network.graph, target);
    CHECK(count_reorders(laid_out.graph) == 1);  // the network's input
    const Node& reader = laid_out.graph.nodes[1];
    CHECK(laid_out.layouts[reader.inputs[0]] == row_layout({4, 5, 1, 7}));
    CHECK(laid_out.layouts[laid_out.renamed[first]] == row_layout({4, 6, 1, 7}));
    CHECK(laid_out.layouts[laid_out.renamed[second]] == row_layout({4, 9, 1, 7}));
    CHECK(laid_out.layouts[laid_out.renamed[last]] == plain_layout({4, 9}));
  }
}

TEST_CASE("an elementwise op keeps rows, and a convolution after it reads maps") {
  for (const Target& target : kEveryTarget) {
    CAPTURE(target.name);
    FakeNetwork network({4, 5, 1, 7});
    const ValueId rows = network(rows_like({4, 6, 1, 7}), {0});
    const ValueId relu = network(relu_like(), {rows});
    FakeTraits wider{.type = "wider", .output = {4, 11, 1, 7}};
    const ValueId wide = network(wider, {relu});
    const ValueId conv = network(conv_like(), {wide});
    const LaidOutGraph laid_out = assign_layouts(network.graph, target);
    CHECK(laid_out.layouts[laid_out.renamed[relu]] == row_layout({4, 6, 1, 7}));
    CHECK(laid_out.layouts[laid_out.renamed[wide]] == row_layout({4, 11, 1, 7}));
    CHECK(laid_out.layouts[laid_out.renamed[conv]] == target.map_layout({4, 11, 1, 7}));
    const bool gpu = target.maps_input;  // its libraries read padded pixels
    CHECK(count_reorders(laid_out.graph) == (gpu ? 2 : 1));
  }
}

TEST_CASE("a value that is read as padded and as unpadded pixels has both") {
  const Target target = cuda_target(Precision::bf16);
  FakeNetwork network({4, 5, 1, 7});
  const ValueId plain = network(
      {.type = "plain", .contract = {.layouts = Contract::Layouts::plain}, .output = {4, 5, 1, 7}},
      {0});
  const ValueId conv = network(conv_like(), {plain});
  const ValueId rows = network(rows_like(), {plain});
  const LaidOutGraph laid_out = assign_layouts(network.graph, target);
  const auto read_by = [&](ValueId output) {
    const NodeId reader = laid_out.graph.values[laid_out.renamed[output]].producer;
    return laid_out.layouts[laid_out.graph.nodes[reader].inputs[0]];
  };
  CHECK(read_by(conv) == channels_last_layout({4, 5, 1, 7}, 8));
  CHECK(read_by(rows) == channels_last_layout({4, 5, 1, 7}, 1));
}

TEST_CASE("rows of whole vectors are a GPU's maps: nothing is copied between them") {
  FakeNetwork network({4, 16, 1, 7});
  network(conv_like(), {network(rows_like(), {0})});
  CHECK(count_reorders(assign_layouts(network.graph, cuda_target(Precision::bf16)).graph) == 0);
}

namespace {

FakeTraits slice_like() {
  return {.type = "slice",
          .contract = {.can = {Can::write_slices}, .layouts = Contract::Layouts::any}};
}
FakeTraits concat_like(const Shape& output) { return {.type = "concat", .output = output}; }

/// Two branches of 16 and 32 channels and their concatenation.
LaidOutGraph sliced_layouts(const Graph& graph, const Target& target) {
  LaidOutGraph laid_out = assign_layouts(graph, target);
  slice_concatenations(laid_out, target);
  return laid_out;
}

struct Branches {
  FakeNetwork network{{4, 3, 8, 8}};
  ValueId narrow, wide, whole;

  explicit Branches(const FakeTraits& last = slice_like(), std::int64_t channels = 32) {
    FakeTraits first = slice_like(), second = last;
    first.output = {4, 16, 8, 8};
    second.output = {4, channels, 8, 8};
    narrow = network(first, {0});
    wide = network(second, {0});
    whole = network(concat_like({4, 16 + channels, 8, 8}), {narrow, wide});
  }
  [[nodiscard]] bool sliced(const Target& target = cpu_target(true)) const {
    const LaidOutGraph laid_out = sliced_layouts(network.graph, target);
    const bool first = laid_out.slices[laid_out.renamed[narrow]].whole >= 0;
    CHECK(first == (laid_out.slices[laid_out.renamed[wide]].whole >= 0));
    return first;
  }
};

}  // namespace

TEST_CASE("branches are slices of their concatenation, in every kind of map") {
  const Branches branches;
  for (const Target& target : {cpu_target(true), cpu_target(false), cuda_target(Precision::bf16),
                               reference_target(Precision::fp64)}) {
    CAPTURE(target.name);
    const LaidOutGraph laid_out = sliced_layouts(branches.network.graph, target);
    const ValueId wide = laid_out.renamed[branches.wide], whole = laid_out.renamed[branches.whole];
    CHECK(laid_out.slices[laid_out.renamed[branches.narrow]].first == 0);
    CHECK(laid_out.slices[wide].whole == whole);
    CHECK(laid_out.slices[wide].first == 16);
    CHECK(laid_out.slices[whole].whole == -1);
    CHECK(laid_out.layouts[wide] == channel_slice(target.map_layout({4, 48, 8, 8}), 16, 32));
  }
}

TEST_CASE("branches have their own memory if one of them cannot be a slice") {
  CHECK(Branches().sliced());
  CHECK_FALSE(Branches(conv_like()).sliced());       // its op writes no slices
  CHECK_FALSE(Branches(slice_like(), 20).sliced());  // no whole block
  CHECK(Branches(slice_like(), 20).sliced(reference_target(Precision::fp32)));
  Branches read_twice;
  read_twice.network(relu_like(), {read_twice.wide});
  CHECK_FALSE(read_twice.sliced());
}
