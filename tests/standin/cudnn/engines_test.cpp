// The properties of the stand-in's engines, as the program's rules read them.
#include <doctest/doctest.h>

#include "plan_run.h"
#include "runtime/control.h"

using namespace standin_tests;
using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

using Computes = ConvGraph::Computes;

/// 3 by 3, of 8 channels to 8 over [2, 8, 5, 5].
ConvGraph graph_of(Computes computes, DType type) {
  const GraphTensor map{type, {2, 8, 5, 5}, {200, 1, 40, 8}};
  return {.computes = computes,
          .input = map,
          .weight = {type, {8, 8, 3, 3}, {72, 1, 24, 8}},
          .output = map,
          .before = {1, 1},
          .after = {1, 1}};
}

struct Found {
  std::vector<std::int64_t> engines;
  std::string refused;
};

Found find(const ConvGraph& graph, EnginePolicy rules) {
  rules.workspace_cap = 1 << 20;
  RefusalCount refused;
  const auto plans = find_plans({.operation_graph = make_operation_graph(stand_in(), graph),
                                 .device = device_properties(),
                                 .adds_bias = graph.adds_bias,
                                 .rules = rules,
                                 .most = 100},
                                refused);
  Found found{.refused = refused.text()};
  for (const EnginePlan& plan : plans) found.engines.push_back(plan.choice.engine);
  return found;
}

using Indices = std::vector<std::int64_t>;

constexpr EnginePolicy kF32{.deterministic = true, .f32 = true};
constexpr EnginePolicy kHalf{.deterministic = true, .f32 = false};

}  // namespace

TEST_CASE("f32 has the engines without rounding, and those that fail later") {
  const Found found = find(graph_of(Computes::output, DType::f32), kF32);
  CHECK(found.engines == Indices{0, 1, 1, 7, 6});
  CHECK(found.refused.find("2 rounds f32 factors to TF32") != std::string::npos);
  CHECK(found.refused.find("CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING") !=
        std::string::npos);
}

TEST_CASE("TF32 and 16 bits also have the engine on tensor cores, as the first") {
  EnginePolicy tf32 = kF32;
  tf32.tf32 = true;
  CHECK(find(graph_of(Computes::output, DType::f32), tf32).engines == Indices{3, 0, 1, 1, 7, 6});
  for (const DType type : {DType::bf16, DType::f16}) {
    const Found found = find(graph_of(Computes::input_gradient, type), kHalf);
    CHECK(found.engines == Indices{3, 0, 1, 1, 7, 6});
    CHECK(found.refused.find("1 converts its inputs to a smaller type") != std::string::npos);
  }
}

TEST_CASE("a nondeterministic engine is proposed first for weight gradients, if allowed") {
  const ConvGraph graph = graph_of(Computes::weight_gradient, DType::f32);
  EnginePolicy any_order = kF32;
  any_order.deterministic = false;
  CHECK(find(graph, any_order).engines.front() == 2);
  const Found found = find(graph, kF32);
  CHECK(found.engines == Indices{0, 1, 1, 7, 6});
  CHECK(found.refused.find("1 not deterministic") != std::string::npos);
}

TEST_CASE("every engine that overwrites its result can add it too, except with a bias") {
  for (const Computes computes : {Computes::output, Computes::input_gradient}) {
    for (const auto& [type, rules] : {std::pair{DType::f32, kF32}, {DType::bf16, kHalf}}) {
      ConvGraph graph = graph_of(computes, type);
      const Indices engines = find(graph, rules).engines;
      graph.adds_result = true;
      CHECK(find(graph, rules).engines == engines);
    }
  }
  ConvGraph biased = with_bias(graph_of(Computes::output, DType::f32));
  biased.adds_result = true;
  CHECK(find(biased, kF32).engines.empty());
}

TEST_CASE("a bias has its own engine in each type") {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    const ConvGraph graph = with_bias(graph_of(Computes::output, type));
    CHECK(find(graph, type == DType::f32 ? kF32 : kHalf).engines == Indices{8});
  }
}

TEST_CASE("without channels last, engines that read vectors are left out") {
  ConvGraph graph = graph_of(Computes::output, DType::bf16);
  graph.input.strides = {200, 25, 5, 1};
  CHECK(find(graph, kHalf).engines == Indices{0, 1, 1, 7, 6});
}

TEST_CASE("another engine is proposed first on request") {
  const ConvGraph graph = graph_of(Computes::output, DType::f32);
  standin::request_failures("cudnnFirstEngine=1");
  const Indices found = find(graph, kF32).engines;
  standin::request_failures("");
  CHECK(found == Indices{1, 1, 0, 7, 6});
}

TEST_CASE("the workspace depends on the settings, and a plan is remade from its record") {
  const ConvGraph graph = graph_of(Computes::output, DType::bf16);
  const std::int64_t matrix = 8 * 9 * 25 * 4;  // taps, positions, bytes
  CHECK(plan_of(graph, 0).workspace_bytes == 0);
  const EnginePlan three = plan_of(graph, 1, {{CUDNN_KNOB_TYPE_STAGES, 3}});
  CHECK(three.workspace_bytes == 3 * matrix);
  const EngineChoice kept = choice_of(json_of(three.choice), "record");
  CHECK(remake_plan(make_operation_graph(stand_in(), graph), device_properties(), kept)
            .workspace_bytes == 3 * matrix);
}

TEST_CASE("a record with an unknown engine or setting is refused") {
  const ConvGraph graph = graph_of(Computes::output, DType::bf16);
  CHECK_THROWS_WITH_AS(plan_of(graph, 99), doctest::Contains("CUDNN_STATUS_NOT_SUPPORTED"), Error);
  CHECK_THROWS_WITH_AS(plan_of(graph, 1, {{CUDNN_KNOB_TYPE_STAGES, 5}}),
                       doctest::Contains("CUDNN_STATUS_NOT_SUPPORTED"), Error);
  CHECK_THROWS_WITH_AS(plan_of(graph, 8), doctest::Contains("NOT_FINALIZED"), Error);
}
