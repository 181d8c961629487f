// Networks of sequences: their input, and the layers that read tokens.
#include <doctest/doctest.h>

#include "graph/network_input.h"
#include "graph/summary.h"
#include "ops/embedding.h"
#include "support.h"

namespace trainyard {
namespace {

const char* const kTokens = R"(
input: {tokens: 80, vocabulary: 20000}
layers:
  - embedding: 128
  - dense: {units: 3, per_position: true}
  - softmax
)";

TEST_CASE("tokens are an int32 input, and their vocabulary that of the layer that reads them") {
  const Graph graph = test::build(kTokens, {.batch = 4});
  const Value& input = graph.values[graph.inputs[0]];
  CHECK(input.shape == Shape{4, 80});
  CHECK(input.type == DType::i32);
  CHECK(graph.vocabulary == 20000);
  const Node& embedding = test::node_at(graph, "embedding1");
  CHECK(embedding.signature.parameters[0].shape == Shape{20000, 128});
  CHECK(graph.values[embedding.outputs[0]].shape == Shape{4, 128, 1, 80});
  CHECK(graph.values[embedding.outputs[0]].type == DType::f32);
  CHECK(test::output_of(graph) == Shape{4, 3, 1, 80});
  CHECK(totals(graph).parameters_trainable == 20000 * 128 + 3 * 128 + 3);
  CHECK(totals(graph).multiply_adds == 80 * 3 * 128);
}

TEST_CASE("a masked layer reads the network's tokens beside its sequence") {
  const Graph graph = test::build(R"(
input: {tokens: 80, vocabulary: 20000}
layers:
  - {identity: , as: tokens}
  - {embedding: 128, as: vectors}
  - {lstm: {units: 128, mask: true}, from: [vectors, tokens]}
  - dense: 1
)",
                                  {.batch = 4});
  const Node& lstm = test::node_at(graph, "lstm1");
  REQUIRE(lstm.inputs.size() == 2);
  CHECK(graph.values[lstm.inputs[1]].type == DType::i32);
  CHECK(graph.values[lstm.inputs[1]].shape == Shape{4, 80});
  CHECK(test::output_of(graph) == Shape{4, 1});
  CHECK(totals(graph).parameters_trainable == 2691713);
}

TEST_CASE("variables give the tokens, and a vocabulary of defaults or of the layer comes first") {
  const auto vocabulary = [](const std::string& yaml) {
    const Graph graph =
        test::build("vars: {t: 7, v: 30}\ninput: {tokens: $t, vocabulary: $v}\n" + yaml);
    CHECK(graph.values[graph.inputs[0]].shape == Shape{1, 7});
    return dynamic_cast<const EmbeddingOp&>(*graph.nodes[0].op).values().vocabulary;
  };
  CHECK(vocabulary("layers: [embedding: 5]\n") == 30);
  CHECK(vocabulary("defaults: {embedding: {l2: 0.5}}\nlayers: [embedding: 5]\n") == 30);
  CHECK(vocabulary("defaults: {embedding: {vocabulary: 31}}\nlayers: [embedding: 5]\n") == 31);
  CHECK(vocabulary("layers: [embedding: {units: 5, vocabulary: 32}]\n") == 32);
}

TEST_CASE("steps of numbers are a map of one row, whose channels are the features of a step") {
  const Graph graph =
      test::build("{input: {steps: 40, features: 60}, layers: [layer_norm, dense: 3]}");
  CHECK(graph.values[graph.inputs[0]].shape == Shape{1, 60, 1, 40});
  CHECK(graph.values[graph.inputs[0]].type == DType::f32);
  CHECK(graph.vocabulary == 0);
  CHECK(test::node_at(graph, "layer_norm1").signature.parameters[0].shape == Shape{60});
  CHECK(test::node_at(graph, "dense1").signature.parameters[0].shape == Shape{3, 60 * 40});
}

TEST_CASE("the summary and the expanded network have the input as a file has it") {
  const Graph graph = test::build(kTokens, {.batch = 4});
  CHECK(summary_text(summarise(graph))
            .starts_with("input {tokens: 80, vocabulary: 20000}, batch 4\n"));
  CHECK(summary_json(summarise(graph)).find("\"vocabulary\": 20000") != std::string::npos);
  const std::string yaml = expanded_yaml(graph);
  CHECK(yaml.find("input: {tokens: 80, vocabulary: 20000}\n") != std::string::npos);
  CHECK(expanded_yaml(test::build(yaml)) == yaml);
}

TEST_CASE("samples are called images, sequences or samples by what the network reads") {
  const auto unit = [](const std::string& input) {
    const Graph graph =
        test::build("{input: " + input + ", layers: [flatten, dense: 2]}", {.batch = 4});
    return std::string(sample_unit(graph).brief) + " " + std::string(sample_unit(graph).plural);
  };
  CHECK(unit("[3, 8, 8]") == "img images");
  CHECK(unit("[8]") == "samples samples");
  CHECK(unit("{steps: 4, features: 3}") == "seq seq");
  CHECK(std::string(sample_unit(test::build(kTokens)).brief) == "seq");
}

TEST_CASE("tokens that two layers read are named in the expanded network") {
  const Graph graph = test::build(
      "{input: {tokens: 6, vocabulary: 9}, layers: [concat: [[embedding: 2], [one_hot]]]}");
  CHECK(test::output_of(graph) == Shape{1, 11, 1, 6});
  const std::string yaml = expanded_yaml(graph);
  CAPTURE(yaml);
  CHECK(test::output_of(test::build(yaml)) == Shape{1, 11, 1, 6});
}

TEST_CASE("the tokens of another batch keep their type") {
  const Graph graph = with_batch(test::build(kTokens, {.batch = 4}), 7);
  CHECK(graph.values[graph.inputs[0]].shape == Shape{7, 80});
  CHECK(graph.values[graph.inputs[0]].type == DType::i32);
  CHECK(test::output_of(graph) == Shape{7, 3, 1, 80});
}

}  // namespace
}  // namespace trainyard
