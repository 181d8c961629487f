#include "plan/layouts.h"

#include <doctest/doctest.h>

#include "fake_network.h"

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

TEST_CASE("a plain op behind a blocked map gets one reorder however many read it") {
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
