// Networks of real layers between ops that have no arithmetic.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fake_network.h"
#include "ops/activation.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"

namespace trainyard::testing {

class LayerNetwork : public FakeNetwork {
 public:
  using FakeNetwork::FakeNetwork;
  ValueId conv(ValueId input, bool bias = true) {
    return put(std::make_shared<ConvOp>(filters(bias)), {input});
  }
  ValueId conv_transpose(ValueId input) {
    return put(std::make_shared<ConvTransposeOp>(ConvTransposeAttributes{.conv = filters(true)}),
               {input});
  }
  ValueId dense(ValueId input) {
    return put(std::make_shared<DenseOp>(DenseAttributes{.units = 6}), {input});
  }
  ValueId bn(ValueId input) { return put(std::make_shared<BnOp>(BnAttributes{}), {input}); }
  /// A bn that ends a residual block.
  ValueId bn(ValueId input, ValueId residual) {
    return put(std::make_shared<BnOp>(BnAttributes{.relu = true, .residual = true}),
               {input, residual});
  }
  ValueId relu(ValueId input) { return put(std::make_shared<ActivationOp<Relu>>(Relu{}), {input}); }
  void share(NodeId user, NodeId owner) {
    graph.nodes[user].parameters_of = graph.nodes[owner].path;
  }
  Plan plan(const std::vector<ValueId>& kept = {},
            const Target& target = reference_target(Precision::fp32)) {
    const ValueId loss = (*this)(loss_like(2), {graph.output});
    PlanRequest request{.loss = loss, .kept = kept};
    request.kept.push_back(loss);
    return plan_for(graph, target, request);
  }

 protected:
  ValueId put(std::shared_ptr<const Op> op, std::vector<ValueId> inputs) {
    Node node;
    node.path = std::string(op->type()) + std::to_string(graph.nodes.size() + 1);
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    return graph.output = graph.nodes[append_node(graph, std::move(node))].outputs[0];
  }

 private:
  static ConvAttributes filters(bool bias) {
    return {.filters = 4, .kernel = {1, 1}, .bias = bias};
  }
};

}  // namespace trainyard::testing
