// A loss's value, an accuracy and the bias before them in the backward step of the loss.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "layer_network.h"
#include "ops/loss.h"
#include "ops/metric.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// A dense layer with a loss and what else reads its values.
class HeadNetwork : public LayerNetwork {
 public:
  HeadNetwork() : LayerNetwork({2, 3, 4, 4}), labels_(static_cast<ValueId>(graph.values.size())) {
    graph.values.push_back({.shape = {2}, .type = DType::i32});
    graph.inputs.push_back(labels_);
    values_ = dense(0);
  }
  void accuracy(std::int64_t k) {
    kept_.push_back(put(std::make_shared<TopKOp>(k == 1 ? "accuracy" : "top_k", TopKAttributes{k}),
                        {values_, labels_}));
  }
  [[nodiscard]] Plan head_plan(Precision precision) {
    const ValueId loss =
        put(std::make_shared<LossOp>("cross_entropy", LossAttributes{}), {values_, labels_});
    PlanRequest request{.loss = loss, .kept = kept_};
    request.kept.push_back(loss);
    request.kept.push_back(values_);
    return plan_for(graph, cuda_target(precision), request);
  }

 private:
  ValueId labels_, values_ = -1;
  std::vector<ValueId> kept_;
};

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Kind::op) names.push_back(name_of(plan, step));
  }
  return names;
}

}  // namespace

TEST_CASE("the backward step of a loss takes its value, an accuracy and the bias along") {
  HeadNetwork network;
  network.accuracy(1);
  const Plan plan = network.head_plan(Precision::bf16);
  CHECK(names_of(plan) ==
        std::vector<std::string>{"dense1 forward_train",
                                 "cross_entropy3 and accuracy forward and backward",
                                 "dense1 backward_parameters"});
  const PlanStep& head = plan.steps[plan.steps.size() - 2];
  CHECK(head.outputs.size() == 2);
  CHECK(head.inputs.size() == 3);
  CHECK(head.form.accuracy->values().k == 1);
  CHECK(head.form.adds_layer_bias());
  const PlanStep& dense = step_named(plan, "dense1 forward_train");
  CHECK(head.bias_of == dense.node);
  CHECK_FALSE(description_of(plan, dense).form.own_bias());
  CHECK(description_of(plan, head).form.loss);
}

TEST_CASE("in f32 the product begins with the bias") {
  HeadNetwork network;
  network.accuracy(1);
  const Plan plan = network.head_plan(Precision::fp32);
  CHECK(step_named(plan, "dense1 forward_train").form.own_bias());
  CHECK(step_named(plan, "cross_entropy3 and accuracy forward and backward").form.loss);
}

TEST_CASE("a second metric has a step, for which the layer adds its bias") {
  HeadNetwork network;
  network.accuracy(1);
  network.accuracy(5);
  const Plan plan = network.head_plan(Precision::bf16);
  CHECK(step_named(plan, "dense1 forward_train").form.own_bias());
  CHECK(step_named(plan, "cross_entropy4 and accuracy forward and backward")
            .form.accuracy->values()
            .k == 1);
  CHECK(step_named(plan, "top_k3 forward_train").outputs.size() == 1);
}

TEST_CASE("other targets have a step each") {
  HeadNetwork network;
  network.accuracy(1);
  static_cast<void>(network.head_plan(Precision::bf16));
  const Plan plan = plan_for(network.graph, cpu_target(true),
                             {.loss = network.graph.output, .kept = {network.graph.output}});
  CHECK(names_of(plan).size() == 5);
}
