// Defaults, profiles, the closing activation, a run's overrides.
#include "graph/build.h"

#include <doctest/doctest.h>

#include "ops/bn.h"
#include "ops/convolution.h"
#include "support.h"

namespace trainyard {
namespace {

using namespace test;

TEST_CASE("an output is a value that `as:` names, once") {
  const std::string layers =
      "layers:\n  - {dense: 4, as: aux}\n  - {dense: 5, as: trunk}\n  - dense: 4\n";
  const Graph graph = build("input: [6]\n" + layers + "outputs: [trunk]\n");
  REQUIRE(graph.outputs.size() == 1);
  CHECK(graph.outputs[0].name == "trunk");
  CHECK(graph.outputs[0].value == graph.nodes[1].outputs[0]);
  CHECK(count_readers(graph)[graph.outputs[0].value] == 2);
  const auto refusal = [&](const std::string& outputs) {
    return test::message_of("input: [6]\n" + layers + "outputs: " + outputs + "\n");
  };
  CHECK(refusal("[auxx]") ==
        "net.yaml:6:11: outputs: no layer of the network is named 'auxx' by as:; did you mean "
        "'aux'?");
  CHECK(refusal("[aux, aux]") == "net.yaml:6:16: outputs: 'aux' is listed twice");
  CHECK(refusal("aux") == "net.yaml:6:10: outputs: expected a list of names, found text 'aux'");
}

TEST_CASE("explicit keys beat defaults and defaults beat the profile") {
  const Graph graph = build(R"(
profile: torch
vars: {e: 0.5}
input: [3, 5, 5]
defaults: {bn: {eps: $e}, conv: {kernel: 3, bias: false}}
layers: [bn, bn: {eps: 0.25}, conv: 4, conv: {filters: 4, bias: true}]
)");
  const auto bn = [&](const char* path) {
    return dynamic_cast<const BnOp&>(*node_at(graph, path).op).values();
  };
  CHECK(bn("bn1").eps == 0.5);
  CHECK(bn("bn2").eps == 0.25);
  CHECK(bn("bn1").momentum == doctest::Approx(0.9));  // torch's 0.1, as the weight of the old value
  CHECK(conv_at(graph, "conv1").kernel == config::Pair{3, 3});
  CHECK_FALSE(conv_at(graph, "conv1").bias);
  CHECK(conv_at(graph, "conv2").bias);
}

TEST_CASE("the options' profile applies if the network names none") {
  const auto eps = [](const std::string& yaml, config::Profile profile) {
    const Graph graph = build(yaml, {.profile = profile});
    return dynamic_cast<const BnOp&>(*graph.nodes[0].op).values().eps;
  };
  CHECK(eps("{input: [3], layers: [bn]}", config::Profile::torch) == 1e-5);
  CHECK(eps("{input: [3], layers: [bn]}", config::Profile::keras2) == 1e-3);
  CHECK(eps("{profile: keras2, input: [3], layers: [bn]}", config::Profile::torch) == 1e-3);
}

TEST_CASE("a final softmax or sigmoid is peeled if the loss needs logits") {
  for (const std::string closing : {"softmax", "sigmoid"}) {
    const std::string yaml = "{input: [6], layers: [dense: 4, " + closing + "]}";
    const Graph peeled = build(yaml);
    CHECK(peeled.nodes.size() == 1);
    CHECK(peeled.output == peeled.nodes[0].outputs.at(0));
    CHECK(peeled.values.size() == 2);
    CHECK(peeled.output_is_logits);
    CHECK(peeled.closing_activation == closing);
    const Graph whole = build(yaml, {.peel_activation = false});
    CHECK(whole.nodes.size() == 2);
    CHECK_FALSE(whole.output_is_logits);
    CHECK(whole.closing_activation == closing);
  }
  const Graph logits = build("{input: [6], layers: [softmax, dense: 4]}");
  CHECK(logits.nodes.size() == 2);
  CHECK(logits.output_is_logits);
  CHECK(logits.closing_activation.empty());
}

TEST_CASE("variables and defaults of a run override the network's") {
  const config::Node network = config::parse_yaml(
      "{vars: {n: 1, f: 2}, input: [3, 5, 5], defaults: {conv: {kernel: 1, bias: false}}, "
      "layers: [repeat: {times: $n, layers: [conv: $f]}, bn]}",
      "net.yaml");
  const config::Node vars = config::parse_yaml("n: 3", "run.yaml");
  const config::Node defaults =
      config::parse_yaml("{conv: {bias: true}, bn: {eps: 0.5}}", "run.yaml");
  config::Diagnostics diagnostics;
  const Graph graph = build_graph(with_overrides(network, &vars, &defaults, diagnostics), {});
  CHECK(diagnostics.empty());
  CHECK(graph.nodes.size() == 4);
  CHECK(conv_at(graph, "conv3").filters == 2);
  CHECK(conv_at(graph, "conv3").bias);
  CHECK(conv_at(graph, "conv3").kernel == config::Pair{1, 1});
}

TEST_CASE("a variable that the network lacks cannot be overridden") {
  const config::Node network = config::parse_yaml("{vars: {depth: 1}, input: [3]}", "net.yaml");
  const config::Node vars = config::parse_yaml("dept: 3", "run.yaml");
  config::Diagnostics diagnostics;
  (void)with_overrides(network, &vars, nullptr, diagnostics);
  CHECK_THROWS_WITH(diagnostics.raise(),
                    "run.yaml:1:1: vars: the network has no variable 'dept'; did you mean "
                    "'depth'?");
}

TEST_CASE("a run overrides single fields of a map variable, and lists as a whole") {
  const config::Node network = config::parse_yaml(
      "{vars: {stem: {f: 8, k: {h: 3, w: 1}}, widths: [2, 4]}, input: [1, 5, 5], "
      "layers: [conv: {filters: $stem.f, kernel: [$stem.k.h, $stem.k.w]}]}",
      "net.yaml");
  const config::Node vars = config::parse_yaml("{stem: {k: {w: 5}}, widths: [6]}", "run.yaml");
  config::Diagnostics diagnostics;
  const config::Node merged = with_overrides(network, &vars, nullptr, diagnostics);
  CHECK(diagnostics.empty());
  CHECK(config::to_yaml(*merged.find("vars")) ==
        "stem:\n  f: 8\n  k:\n    h: 3\n    w: 5\nwidths: [6]\n");
  const config::Node wrong = config::parse_yaml("{stem: {k: {wide: 5}}}", "run.yaml");
  (void)with_overrides(network, &wrong, nullptr, diagnostics);
  CHECK_THROWS_WITH(diagnostics.raise(),
                    "run.yaml:1:13: vars: the network's variable 'stem.k' has no field 'wide'");
}

TEST_CASE("variables of a run report a misspelt 'vars' of the network at its own position") {
  const config::Node network = config::parse_yaml("{input: [3],\n vvars: {depth: 1}}", "net.yaml");
  const config::Node vars = config::parse_yaml("depth: 3", "run.yaml");
  config::Diagnostics diagnostics;
  (void)with_overrides(network, &vars, nullptr, diagnostics);
  CHECK_THROWS_WITH(diagnostics.raise(),
                    "net.yaml:2:2: unknown key 'vvars' in 'network'; did you mean 'vars'?");
}

TEST_CASE("append_node reports position, layer, reason and inputs if shapes do not fit") {
  Graph graph = build("{input: [3, 5, 5], layers: [relu]}");
  const Graph other = build("{input: [3, 9, 9], layers: [conv: [4, 7]]}", {}, "other.yaml");
  Node conv = other.nodes[0];
  conv.outputs.clear();
  conv.inputs = {graph.output};
  CHECK_THROWS_WITH_AS(append_node(graph, conv),
                       "other.yaml:1:29: layer 'conv1': height: a window over 7 pixels does not "
                       "fit an input of 5 with 0 of padding on each side; input: [1, 3, 5, 5] from "
                       "line 1 ('relu1')",
                       Error);
}

}  // namespace
}  // namespace trainyard
