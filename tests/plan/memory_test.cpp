#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "fake_network.h"
#include "plan/plan.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct Life {
  int first = 1 << 30;
  int last = -1;
};

std::vector<Life> lives(const Plan& plan) {
  std::vector<Life> list(plan.tensors.size());
  for (int index = 0; index < static_cast<int>(plan.steps.size()); ++index) {
    const PlanStep& step = plan.steps[index];
    for (const auto* ids :
         {&step.inputs, &step.outputs, &step.output_gradients, &step.input_gradients}) {
      for (const TensorId id : *ids) {
        if (id == kNoTensor) continue;
        Life& life = list[plan.root(id)];
        life.first = std::min(life.first, index);
        life.last = std::max(life.last, index);
      }
    }
  }
  for (std::size_t id = 0; id < plan.tensors.size(); ++id) {
    if (plan.tensors[id].kept) list[plan.root(static_cast<TensorId>(id))].last = 1 << 20;
  }
  return list;
}

/// Number of pairs of tensors that live at the same time in overlapping bytes.
int conflicts(const Plan& plan) {
  const std::vector<Life> list = lives(plan);
  int count = 0;
  for (std::size_t a = 0; a < plan.tensors.size(); ++a) {
    for (std::size_t b = a + 1; b < plan.tensors.size(); ++b) {
      const PlanTensor& left = plan.tensors[a];
      const PlanTensor& right = plan.tensors[b];
      if (left.alias_of != kNoTensor || right.alias_of != kNoTensor) continue;
      if (left.input || right.input) continue;
      const bool in_time = list[a].first <= list[b].last && list[b].first <= list[a].last;
      const bool in_space =
          left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
      if (in_time && in_space) ++count;
    }
  }
  return count;
}

/// A random chain with branches that join again.
FakeNetwork random_network(std::mt19937& random) {
  FakeNetwork network({2, static_cast<std::int64_t>(1 + random() % 40), 3, 3});
  std::vector<ValueId> values{network(conv_like(), {0})};
  for (int i = 0; i < 20; ++i) {
    const ValueId from = values[random() % values.size()];
    switch (random() % 3) {
      case 0:
        values.push_back(network(conv_like(), {from}));
        break;
      case 1:
        values.push_back(network(relu_like(), {from}));
        break;
      default:
        values.push_back(network(add_like(), {from, values[random() % values.size()]}));
    }
  }
  return network;
}

Plan planned(FakeNetwork& network) {
  const ValueId loss = network(loss_like(2), {network.graph.output});
  Plan plan = plan_for(network.graph, cpu_target(true), {.loss = loss, .kept = {loss}});
  merge_in_place(plan);
  plan_memory(plan);
  return plan;
}

}  // namespace

TEST_CASE("tensors that live at the same time never share bytes, over 200 random networks") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    FakeNetwork network = random_network(random);
    REQUIRE(conflicts(planned(network)) == 0);
  }
}

TEST_CASE("a ReLU reuses the memory of its input, forward and backward") {
  FakeNetwork network({2, 16, 4, 4});
  network(relu_like(), {network(conv_like(), {0})});
  const Plan plan = planned(network);
  for (const PlanStep& step : plan.steps) {
    if (name_of(plan, step) == "act2 forward_train") {
      CHECK(plan.root(step.inputs[0]) == plan.root(step.outputs[0]));
    }
    if (name_of(plan, step) == "act2 backward_data") {
      CHECK(plan.root(step.output_gradients[0]) == plan.root(step.input_gradients[0]));
    }
  }
}

TEST_CASE("an op whose input is read later does not overwrite it") {
  FakeNetwork network({2, 16, 4, 4});
  const ValueId stem = network(conv_like(), {0});
  network(add_like(), {network(relu_like(), {stem}), stem});
  const Plan plan = planned(network);
  for (const PlanStep& step : plan.steps) {
    if (name_of(plan, step) == "act2 forward_train") {
      CHECK(plan.root(step.inputs[0]) != plan.root(step.outputs[0]));
    }
  }
}

TEST_CASE("an op that is given one tensor twice does not overwrite it") {
  FakeNetwork network({2, 16, 4, 4});
  const ValueId stem = network(conv_like(), {0}), other = network(conv_like(), {0});
  FakeTraits sum = add_like();
  sum.contract.in_place_forward = true;
  network(sum, {stem, stem});
  network(sum, {other, network.graph.output});
  const Plan plan = planned(network);
  for (const PlanStep& step : plan.steps) {
    if (name_of(plan, step) == "sum3 forward_train") {
      CHECK(plan.root(step.inputs[0]) != plan.root(step.outputs[0]));
    }
    if (name_of(plan, step) == "sum4 forward_train") {
      CHECK(plan.root(step.inputs[0]) == plan.root(step.outputs[0]));
    }
  }
}

TEST_CASE("a chain of layers reuses memory in evaluation") {
  FakeNetwork network({2, 16, 16, 16});
  ValueId value = 0;
  for (int i = 0; i < 10; ++i) value = network(conv_like(), {value});
  Plan plan = plan_for(network.graph, cpu_target(true), {.train = false, .kept = {value}});
  plan_memory(plan);
  const std::size_t one = 2 * 16 * 16 * 16 * sizeof(float);
  CHECK(plan.transient_bytes == 2 * one);
}

TEST_CASE("offsets are aligned to 256 bytes") {
  FakeNetwork network({1, 3, 5, 5});
  network(conv_like(), {network(relu_like(), {0})});
  for (const PlanTensor& tensor : planned(network).tensors) CHECK(tensor.offset % 256 == 0);
}
