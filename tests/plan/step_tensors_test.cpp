// The list of what a step reads and writes, and those who follow it.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "plan/passes.h"

using namespace trainyard;

namespace {

/// A step with `id` at one of its places for tensors.
struct Place {
  const char* name;  // in the plan's text
  bool writes;       // in a backward step
  std::function<void(PlanStep&, TensorId)> put;
};

/// All of them. A new list or tensor of PlanStep does not compile until it is named here; it needs
/// its row below and its line in tensors_of().
std::vector<Place> places() {
  const auto& [kind, pass, node, inputs, outputs, output_gradients, input_gradients,
               parameter_gradients, form, bias_of, sibling, awaits, reserve, workspace] =
      PlanStep{};
  static_cast<void>(kind);
  const auto list = [](std::vector<TensorId> PlanStep::*ids) {
    return [ids](PlanStep& step, TensorId id) { step.*ids = {id}; };
  };
  return {
      {"in", false, list(&PlanStep::inputs)},
      {"out", false, list(&PlanStep::outputs)},
      {"dout", false, list(&PlanStep::output_gradients)},
      {"din", true, list(&PlanStep::input_gradients)},
      {"dparam", true, list(&PlanStep::parameter_gradients)},
      {"reserve", false, [](PlanStep& step, TensorId id) { step.reserve = id; }},
      {"workspace", true, [](PlanStep& step, TensorId id) { step.workspace = id; }},
  };
}

/// What a step says of its one tensor.
TensorUse use_of(const PlanStep& step) {
  const std::vector<TensorUse> uses = tensors_of(step);
  const auto found =
      std::ranges::find_if(uses, [](const TensorUse& use) { return use.id != kNoTensor; });
  REQUIRE(found != uses.end());
  return *found;
}

}  // namespace

TEST_CASE("each tensor of a step lives at the step, is in its text, and makes it conflict") {
  for (const Place& place : places()) {
    CAPTURE(place.name);
    Plan plan;
    plan.tensors = {{.name = "its own", .bytes = 100}, {.name = "of a later step", .bytes = 100}};
    Node node;
    node.path = "layer";
    plan.laid_out.graph.nodes = {node};
    const PlanStep empty{.kind = PlanStep::Kind::op, .pass = Pass::backward_data, .node = 0};
    plan.steps = {empty, empty, empty};
    place.put(plan.steps[0], 0);
    place.put(plan.steps[1], 1);
    place.put(plan.steps[2], 0);
    plan_memory(plan);
    CHECK(plan.tensors[0].offset != plan.tensors[1].offset);
    CHECK(text_of(plan).find(std::string("backward_data ") + place.name + "=0\n") !=
          std::string::npos);
    CHECK(plan.touches(plan.steps[0], 0));
    CHECK_FALSE(plan.touches(plan.steps[1], 0));
    CHECK(conflict(plan, plan.steps[0], plan.steps[2]) == place.writes);
    CHECK_FALSE(conflict(plan, plan.steps[0], plan.steps[1]));
    plan.tensors[1].alias_of = 0;
    CHECK(conflict(plan, plan.steps[0], plan.steps[1]) == place.writes);
  }
}

TEST_CASE("a step writes its outputs and its reserve forward, and reads them backward") {
  const auto letters = [](const PlanStep& step) {
    const TensorUse use = use_of(step);
    return std::string(use.reads ? "r" : "") + (use.writes ? "w" : "");
  };
  const auto output = [&](PlanStep step) {
    step.outputs = {0};
    return letters(step);
  };
  const auto reserve = [&](PlanStep step) {
    step.reserve = 0;
    return letters(step);
  };
  CHECK(output({.pass = Pass::forward_train}) == "w");
  CHECK(output({.pass = Pass::forward_eval}) == "w");
  CHECK(output({.pass = Pass::recompute}) == "w");
  CHECK(output({.pass = Pass::backward_data}) == "r");
  CHECK(output({.pass = Pass::backward_parameters}) == "r");
  CHECK(output({.kind = PlanStep::Kind::reorder, .pass = Pass::backward_data}) == "w");
  CHECK(output({.kind = PlanStep::Kind::unpack, .pass = Pass::backward_parameters}) == "w");
  CHECK(output({.kind = PlanStep::Kind::accumulate, .pass = Pass::backward_data}) == "rw");
  CHECK(reserve({.pass = Pass::forward_train}) == "w");
  CHECK(reserve({.pass = Pass::recompute}) == "r");
  CHECK(reserve({.pass = Pass::backward_data}) == "r");
  PlanStep adds{
      .pass = Pass::backward_data, .input_gradients = {0}, .form = {.adds_gradient = true}};
  CHECK(use_of(adds).reads);
  adds.form.adds_gradient = false;
  CHECK_FALSE(use_of(adds).reads);
}
