#include <doctest/doctest.h>

#include "layer_network.h"
#include "plan/blocks.h"
#include "plan/passes.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using Cancelled = std::vector<CancelledBias>;

Cancelled cancelled(LayerNetwork network) { return network.plan().cancelled_biases; }

std::size_t parameters_of(const Plan& plan, NodeId node) {
  return plan.laid_out.graph.nodes[node].signature.parameters.size();
}

/// Steps with gradients, in their order: the node, and which of its gradients go to a tensor of
/// their own ('t') or to the block ('b'), as they all do in "".
std::vector<std::pair<NodeId, std::string>> gradients_of(const Plan& plan) {
  std::vector<std::pair<NodeId, std::string>> list;
  for (const PlanStep& step : plan.steps) {
    if (step.pass != Pass::backward_parameters) continue;
    std::string text;
    for (const TensorId id : step.parameter_gradients) {
      text += plan.tensors[id].gradient_of ? 'b' : 't';
    }
    list.emplace_back(step.node, text);
  }
  return list;
}

using Gradients = std::vector<std::pair<NodeId, std::string>>;

/// The parameters that steps add to.
std::vector<std::size_t> sums_of(const Plan& plan) {
  std::vector<std::size_t> indices;
  for (const PlanStep& step : plan.steps) {
    if (step.kind != PlanStep::Kind::accumulate) continue;
    if (const auto& of = plan.tensors[step.outputs[0]].gradient_of) indices.push_back(of->index);
  }
  return indices;
}

using Names = std::vector<std::string>;

/// Parameters whose gradients no step writes.
Names unwritten(LayerNetwork network) {
  const BlockLayout blocks = lay_out_blocks(network.graph);
  const std::vector<bool> written = written_entries(network.plan(), blocks);
  Names names;
  for (std::size_t entry = 0; entry < written.size(); ++entry) {
    if (!written[entry]) names.push_back(blocks.parameters[entry].name);
  }
  return names;
}

}  // namespace

TEST_CASE("in training, a bias before a batch norm is taken away") {
  LayerNetwork network({2, 3, 4, 4});
  network.bn(network.dense(network.bn(network.conv_transpose(network.bn(network.conv(0))))));
  const Plan plan = network.plan();
  CHECK(plan.cancelled_biases == Cancelled{{0, 1}, {2, 3}, {4, 5}});
  for (const NodeId layer : {0, 2, 4}) CHECK(parameters_of(plan, layer) == 1);
  const auto& transposed =
      dynamic_cast<const ConvTransposeOp&>(*plan.laid_out.graph.nodes[2].op).values();
  CHECK_FALSE(transposed.bias);
  CHECK(transposed.filters == 4);
  CHECK(text_of(plan).find("\nbiases that batch norms cancel: conv1 (bn2), conv_transpose3 (bn4), "
                           "dense5 (bn6)\n") != std::string::npos);
}

TEST_CASE("evaluation adds it, and so does a plan that is to cancel nothing") {
  LayerNetwork network({2, 3, 4, 4});
  const ValueId output = network.bn(network.conv(0));
  const Plan evaluation = plan_for(network.graph, reference_target(Precision::fp32),
                                   {.train = false, .kept = {output}});
  CHECK(evaluation.cancelled_biases.empty());
  CHECK(parameters_of(evaluation, 0) == 2);
  Target target = reference_target(Precision::fp32);
  target.can.set(Can::cancel_biases, false);
  const Plan plain = network.plan({}, target);
  CHECK(plain.cancelled_biases.empty());
  CHECK(parameters_of(plain, 0) == 2);
  CHECK(text_of(plain).find("cancel") == std::string::npos);
}

TEST_CASE("two batch norms of one output both cancel its bias") {
  LayerNetwork network({2, 3, 4, 4});
  const ValueId conv = network.conv(0);
  const ValueId one = network.bn(conv), other = network.bn(conv);
  network(add_like(), {one, other});
  CHECK(cancelled(network) == Cancelled{{0, 1}, {0, 2}});
}

TEST_CASE("a bias stays if something else sees it") {
  LayerNetwork behind_relu({2, 3, 4, 4});
  behind_relu.bn(behind_relu(relu_like(), {behind_relu.conv(0)}));
  CHECK(cancelled(behind_relu).empty());

  LayerNetwork beside({2, 3, 4, 4});
  const ValueId seen = beside.conv(0);
  beside(add_like(), {beside.bn(seen), seen});
  CHECK(cancelled(beside).empty());

  LayerNetwork residual({2, 3, 4, 4});
  const ValueId first = residual.conv(0), second = residual.conv(0);
  residual.bn(first, second);
  CHECK(cancelled(residual) == Cancelled{{0, 2}});
  LayerNetwork own({2, 3, 4, 4});
  const ValueId both = own.conv(0);
  own.bn(both, both);
  CHECK(cancelled(own).empty());

  LayerNetwork kept({2, 3, 4, 4});
  const ValueId read = kept.conv(0);
  kept.bn(read);
  CHECK(kept.plan({read}).cancelled_biases.empty());

  LayerNetwork without({2, 3, 4, 4});
  without.bn(without.conv(0, false));
  CHECK(cancelled(without).empty());
}

TEST_CASE("a use of shared parameters without the bias leaves the gradients of the others") {
  // Backward goes from the last use to the first, each of which writes what none has written.
  LayerNetwork last({2, 4, 4, 4});
  last.bn(last.conv(last(relu_like(), {last.conv(last(relu_like(), {last.conv(0)}))})));
  last.share(2, 0);
  last.share(4, 0);
  const Plan with_first = last.plan();
  CHECK(with_first.cancelled_biases == Cancelled{{4, 5}});
  CHECK(gradients_of(with_first) == Gradients{{4, ""}, {2, "tb"}, {0, "tt"}});
  CHECK(sums_of(with_first) == std::vector<std::size_t>{0, 0, 1});

  LayerNetwork first({2, 4, 4, 4});
  first.conv(first.bn(first.conv(0)));
  first.share(2, 0);
  const Plan with_last = first.plan();
  CHECK(with_last.cancelled_biases == Cancelled{{0, 1}});
  CHECK(gradients_of(with_last) == Gradients{{2, ""}, {0, "t"}});
  CHECK(sums_of(with_last) == std::vector<std::size_t>{0});
}

TEST_CASE("no step writes the gradient of a bias that all uses cancel") {
  LayerNetwork network({2, 4, 4, 4});
  network.conv(network.bn(network.conv(network.bn(network.conv(0)))));
  network.share(2, 0);
  CHECK(unwritten(network) == Names{"conv1.bias"});
  network.graph.nodes[4].frozen = true;
  CHECK(unwritten(network) == Names{"conv5.weight", "conv5.bias", "conv1.bias"});

  LayerNetwork seen({2, 4, 4, 4});
  seen.bn(seen.conv(seen(relu_like(), {seen.conv(0)})));
  seen.share(2, 0);
  CHECK(unwritten(seen).empty());
}
