// Networks of ops that have traits and a shape rule but no arithmetic.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace trainyard::testing {

struct FakeTraits {
  std::string type = "fake";
  std::string name = type;  // name of its nodes, before their number
  Contract contract = {};
  std::int64_t parameter_elements = 0;  // size of its one parameter, 0: none
  Shape output;                         // rank 0: as the first input
  std::int64_t statistic_elements = 0;  // size of its one statistic, 0: none
  std::int64_t multiply_adds = 0;
};

class FakeOp final : public Op {
 public:
  explicit FakeOp(FakeTraits traits) : traits_(std::move(traits)) {}
  [[nodiscard]] std::string_view type() const override { return traits_.type; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Contract contract() const override { return traits_.contract; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override {
    Signature signature;
    signature.outputs = {traits_.output.rank() == 0 ? inputs[0] : traits_.output};
    if (traits_.parameter_elements > 0) {
      signature.parameters = {{.name = "weight", .shape = Shape{traits_.parameter_elements}}};
    }
    if (traits_.statistic_elements > 0) {
      signature.statistics = {{.name = "mean", .shape = Shape{traits_.statistic_elements}}};
    }
    signature.multiply_adds = traits_.multiply_adds;
    return signature;
  }

 private:
  FakeTraits traits_;
};

inline FakeTraits conv_like() {
  return {.type = "scale",
          .name = "conv",
          .contract = {.backward_reads_inputs = true, .layouts = Contract::Layouts::any},
          .parameter_elements = 100};
}
inline FakeTraits relu_like() {
  return {.type = "act",
          .contract = {
              .backward_reads_outputs = true, .in_place_forward = true, .in_place_backward = true}};
}
inline FakeTraits add_like() { return {.type = "sum", .contract = {.alias_gradient = true}}; }
inline FakeTraits loss_like(std::int64_t n) {
  return {.type = "loss",
          .contract = {.backward_reads_inputs = true, .layouts = Contract::Layouts::plain},
          .output = Shape{n}};
}

/// Builds a graph node by node; every call returns the value of its output.
class FakeNetwork {
 public:
  explicit FakeNetwork(const Shape& input) {
    graph.values.push_back({.shape = input});
    graph.inputs = {0};
  }
  ValueId operator()(const FakeTraits& traits, std::vector<ValueId> inputs) {
    Node node;
    node.path = traits.name + std::to_string(graph.nodes.size() + 1);
    node.op = std::make_shared<FakeOp>(traits);
    node.inputs = std::move(inputs);
    return graph.output = graph.nodes[append_node(graph, std::move(node))].outputs[0];
  }
  Graph graph;
};

/// The plan of training it with a loss of two samples at its end.
inline Plan training_plan(FakeNetwork& network,
                          const Target& target = reference_target(Precision::fp32)) {
  const ValueId loss = network(loss_like(2), {network.graph.output});
  return plan_for(network.graph, target, {.loss = loss, .kept = {loss}});
}

}  // namespace trainyard::testing
