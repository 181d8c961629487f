// Batch norms of one concatenation that run in the same launches.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../graph/support.h"
#include "overlaps.h"
#include "plan/passes.h"
#include "plan/plan.h"
#include "step_named.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

Target gpu_target(bool siblings = true) {
  Target target = cuda_target(Precision::bf16);
  target.can.set(Can::join_siblings, siblings);
  return target;
}

Plan plan_of(const Graph& graph, const Target& target, bool train = true) {
  Plan plan = plan_for(graph, target,
                       {.train = train, .loss = train ? graph.output : -1, .kept = {graph.output}});
  return plan;
}

/// Plan of a network of [8, 8, 8] whose last layer is a concatenation of `branches`.
Plan branches(const std::string& branches, const Target& target = gpu_target()) {
  const std::string network = R"(
input: [8, 8, 8]
defaults: {conv: {bias: false}}
blocks:
  cb: {args: [f, k], layers: [conv: {filters: $f, kernel: $k, pad: same_upper}, bn]}
  cbr: {args: [f, k], layers: [cb: [$f, $k], relu]}
layers:
  - conv: {filters: 8, kernel: 3, pad: same_upper}
  - concat: [)" + branches + R"(]
  - global_avg_pool
)";
  return plan_of(test::build(network, {.batch = 2}), target);
}

/// The steps of each group by name, with the pass behind: "a.bn, b.bn forward_train".
std::vector<std::string> groups(const Plan& plan) {
  std::vector<std::string> found;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const std::string& path = plan.laid_out.graph.nodes[plan.steps[index].node].path;
    const StepRange range = siblings_of(plan, index);
    CHECK(range.first <= index);
    CHECK(index <= range.last);
    if (range.first == range.last) continue;
    if (index == range.first) found.emplace_back();
    found.back() +=
        path + (index < range.last ? ", " : " " + std::string(name_of(plan.steps[index].pass)));
  }
  return found;
}

/// Numbers of siblings of each group of a pass.
std::vector<std::size_t> sizes(const Plan& plan, Pass pass) {
  std::vector<std::size_t> found;
  for (std::size_t index = 0; index < plan.steps.size(); ++index) {
    const StepRange range = siblings_of(plan, index);
    if (index != range.first || range.last == index || plan.steps[index].pass != pass) continue;
    found.push_back(range.last - range.first + 1);
  }
  return found;
}

std::vector<std::string> names(const Plan& plan, bool norms) {
  std::vector<std::string> found;
  for (const PlanStep& step : plan.steps) {
    const bool norm = plan.laid_out.graph.nodes[step.node].op->type() == "bn";
    if (norm == norms) found.push_back(name_of(plan, step));
  }
  return found;
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the two batch norms of each module of MiniGoogLeNet are siblings in each pass") {
  const Graph graph = test::build_file("models/minigooglenet.yaml", "", {.batch = 128});
  const Plan plan = plan_of(graph, gpu_target());
  CHECK(sizes(plan, Pass::forward_train) == Sizes(8, 2));
  CHECK(sizes(plan, Pass::backward_data) == Sizes(8, 2));
  CHECK(sizes(plan_of(graph, gpu_target(), false), Pass::forward_eval) == Sizes(8, 2));
  CHECK(text_of(plan).find(" sibling\n") != std::string::npos);
  // The other steps keep their order, and no step is lost.
  const Plan apart = plan_of(graph, gpu_target(false));
  CHECK(groups(apart).empty());
  CHECK(names(plan, false) == names(apart, false));
  std::vector<std::string> moved = names(plan, true), norms = names(apart, true);
  std::ranges::sort(moved);
  std::ranges::sort(norms);
  CHECK(moved == norms);
}

TEST_CASE("plans of the CPU and of the reference device have none") {
  const Graph graph = test::build_file("models/minigooglenet.yaml", "", {.batch = 8});
  for (const Target& target : {cpu_target(true), reference_target(Precision::fp32)}) {
    CHECK(groups(plan_of(graph, target)).empty());
  }
}

TEST_CASE("a residual network has none") {
  const Graph graph = test::build_file("models/resnet_cifar.yaml", "", {.batch = 2});
  CHECK(groups(plan_of(graph, gpu_target())).empty());
}

TEST_CASE("ends of branches of any length are siblings, forward where the last one is ready") {
  const Plan plan = branches(
      "[cbr: [8, 1]], [cbr: [8, 1], cbr: [16, 3]], [max_pool: {size: 3, stride: 1, pad: "
      "same_upper}, cbr: [8, 1]]");
  CHECK(sizes(plan, Pass::forward_train) == Sizes{3});
  CHECK(sizes(plan, Pass::backward_data) == Sizes{3});
}

TEST_CASE("a launch has at most kMostSiblings of them") {
  std::string six = "[cbr: [8, 1]]";
  for (int i = 1; i < 6; ++i) six += ", [cbr: [8, 1]]";
  const Plan plan = branches(six);
  CHECK(sizes(plan, Pass::forward_train) == Sizes{4, 2});
  CHECK(sizes(plan, Pass::backward_data) == Sizes{4, 2});
}

TEST_CASE("they stay apart where their functors or their concatenations differ") {
  // With a ReLU and without.
  CHECK(groups(branches("[cbr: [8, 1]], [cb: [8, 3]]")).empty());
  // Channels that are no slices.
  CHECK(groups(branches("[cbr: [8, 1]], [cbr: [12, 3]]")).empty());
  // Two concatenations, of which one is a branch of the other.
  CHECK(
      groups(branches("[cbr: [8, 1]], [concat: [[cbr: [8, 1]], [max_pool: {size: 1}]]]")).empty());
}

TEST_CASE("they stay apart where a step between writes to the concatenation") {
  const Plan plan =
      branches("[cbr: [8, 1]], [max_pool: {size: 3, stride: 1, pad: same_upper}], [cbr: [8, 3]]");
  CHECK(sizes(plan, Pass::forward_train).empty());
  CHECK(sizes(plan, Pass::backward_data) == Sizes{2});  // there it only reads
}

TEST_CASE("they stay apart where one alone adds to the gradient of its input") {
  const Plan plan = branches("[bn, relu], [cbr: [8, 3]]");
  CHECK(sizes(plan, Pass::forward_train) == Sizes{2});
  CHECK(sizes(plan, Pass::backward_data).empty());
}

TEST_CASE("siblings live at once: none has bytes of another, nor of what is on the side queue") {
  const Graph graph = test::build_file("models/minigooglenet.yaml", "", {.batch = 2});
  Plan plan = plan_of(graph, gpu_target());
  std::vector<StepNeeds> needs;
  for (const PlanStep& step : plan.steps) {
    needs.push_back({.workspace = 300, .reserve = step.pass == Pass::forward_train ? 500u : 0u});
  }
  complete(plan, needs);
  int pairs = 0;
  for (std::size_t one = 0; one < plan.steps.size(); ++one) {
    const StepRange range = siblings_of(plan, one);
    for (std::size_t other = range.first; other <= range.last; ++other) {
      if (one == other) continue;
      ++pairs;
      CHECK_FALSE(
          test::meet(plan, test::written_by(plan.steps[one]), test::read_by(plan.steps[other])));
      const auto apart = [&](const std::vector<TensorId>& written) {
        return !test::meet(plan, written, test::written_by(plan.steps[other]));
      };
      const PlanStep& step = plan.steps[one];
      CHECK(apart({step.workspace}));
      CHECK(apart(step.input_gradients));
      // Slices of one tensor have no bytes of their own for each.
      if (step.pass == Pass::forward_train) CHECK(apart({step.reserve}));
    }
  }
  CHECK(pairs == 32);
  CHECK(test::overlapping_conflicts(plan).empty());
}

TEST_CASE("where a sibling awaits a step of the side queue, the first one does") {
  const Graph graph = test::build_file("models/minigooglenet.yaml", "", {.batch = 2});
  for (const PlanStep& step : plan_of(graph, gpu_target()).steps) {
    if (step.sibling) CHECK(step.awaits == -1);
  }
}
