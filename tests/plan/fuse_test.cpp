#include <doctest/doctest.h>

#include "layer_network.h"
#include "ops/activation.h"
#include "ops/bn.h"
#include "ops/joins.h"
#include "plan/passes.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Networks of real bn, add and relu between ops that have no arithmetic.
class SmallNetwork : public LayerNetwork {
 public:
  using LayerNetwork::LayerNetwork;
  ValueId add(ValueId a, ValueId b) {
    return put(std::make_shared<AddOp>(AddAttributes{}), {a, b});
  }
};

std::string types_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) text += (text.empty() ? "" : " ") + node.path;
  return text;
}

const BnAttributes& bn_of(const Node& node) { return dynamic_cast<const BnOp&>(*node.op).values(); }

Graph fused(const SmallNetwork& network) { return fuse(network.graph, cpu_target(true)); }

}  // namespace

TEST_CASE("bn and add are fused with the ReLU after them, at the path of the first") {
  SmallNetwork network({4, 16, 8, 8});
  const ValueId first = network.relu(network.bn(0));
  network.relu(network.add(network(conv_like(), {first}), first));
  const Graph graph = fused(network);
  CHECK(types_of(graph) == "bn1 conv3 add4");
  CHECK(bn_of(graph.nodes[0]).relu);
  CHECK_FALSE(bn_of(graph.nodes[0]).residual);
  CHECK(graph.nodes[2].op->attributes() == "{relu: true}");
  CHECK(graph.output == graph.nodes[2].outputs[0]);
}

TEST_CASE("a ReLU stays if other nodes read its input") {
  SmallNetwork network({4, 16, 8, 8});
  const ValueId normal = network.bn(0);
  network(add_like(), {network.relu(normal), normal});
  CHECK(types_of(fused(network)) == "bn1 relu2 sum3");
}

TEST_CASE(
    "the bn at the end of a branch is fused with the sum and its ReLU, in the position of the "
    "sum") {
  SmallNetwork network({4, 16, 8, 8});
  const ValueId branch = network.bn(network(conv_like(), {0}));
  const ValueId shortcut = network(conv_like(), {0});
  network.relu(network.add(branch, shortcut));
  const Graph graph = fused(network);
  CHECK(types_of(graph) == "conv1 conv3 bn2");
  const Node& bn = graph.nodes[2];
  CHECK(bn_of(bn).residual);
  CHECK(bn_of(bn).relu);
  CHECK(bn.inputs == std::vector<ValueId>{graph.nodes[0].outputs[0], shortcut});
  CHECK(graph.values[graph.output].producer == 2);
}

TEST_CASE("the later of two branches that end in bn is fused with the sum") {
  SmallNetwork network({4, 16, 8, 8});
  const ValueId early = network.bn(network(conv_like(), {0}));
  const ValueId late = network.bn(network(conv_like(), {0}));
  network.relu(network.add(early, late));
  const Graph graph = fused(network);
  CHECK(types_of(graph) == "conv1 bn2 conv3 bn4");
  CHECK_FALSE(bn_of(graph.nodes[1]).residual);
  CHECK(bn_of(graph.nodes[3]).residual);
  CHECK(graph.nodes[3].inputs.back() == early);
}

TEST_CASE("a sum stays if it cannot be fused with a bn") {
  const auto types = [](const Shape& shape, auto&& build) {
    SmallNetwork network(shape);
    build(network);
    return types_of(fused(network));
  };
  CHECK(types({4, 16, 8, 8}, [](SmallNetwork& net) { net.add(net.bn(0), 0); }) == "bn1 add2");
  CHECK(types({4, 12, 8, 8}, [](SmallNetwork& net) { net.relu(net.add(net.bn(0), 0)); }) ==
        "bn1 add2");
  CHECK(types({4, 16}, [](SmallNetwork& net) { net.relu(net.add(net.bn(0), 0)); }) == "bn1 add2");
  CHECK(types({4, 16, 8, 8}, [](SmallNetwork& net) {
          const ValueId normal = net.bn(0);
          net(add_like(), {net.relu(net.add(normal, 0)), normal});
        }) == "bn1 add2 sum4");
}

TEST_CASE("a bn whose parameters other nodes use stays before them") {
  SmallNetwork network({4, 16, 8, 8});
  const ValueId branch = network.bn(0);
  const ValueId user = network.bn(0);
  network.graph.nodes[1].parameters_of = network.graph.nodes[0].path;
  const ValueId sum = network.relu(network.add(branch, 0));
  network(add_like(), {sum, user});
  CHECK(types_of(fused(network)) == "bn1 bn2 add3 sum5");
}
