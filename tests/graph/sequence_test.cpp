// Networks of sequences: their input, and the layers that read tokens.
#include "ops/sequence.h"

#include <doctest/doctest.h>

#include "graph/network_input.h"
#include "graph/summary.h"
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

/// The names of the node's inputs after its first: "mask", or "tokens".
std::string masks_of(const Graph& graph, const std::string& path) {
  const Node& node = test::node_at(graph, path);
  std::string text;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    CHECK(graph.values[node.inputs[i]].type == DType::i32);
    text += node.inputs[i] == graph.mask ? "mask" : "tokens";
  }
  return text;
}

const char* const kLengths = R"(
input: {steps: 8, features: 3, lengths: true}
layers:
  - dense: {units: 6, per_position: true}
  - relu
  - {lstm: {units: 5, return_sequences: true}, as: states}
  - dropout: 0.5
  - {simple_rnn: 4, as: last}
  - {pool_steps: maximum, from: states, as: largest}
  - {concat: , from: [last, largest]}
  - dense: 2
)";

TEST_CASE("layers that know masks read that of the samples' lengths, and those between keep it") {
  const Graph graph = test::build(kLengths, {.batch = 4});
  REQUIRE(graph.inputs == std::vector<ValueId>{0, graph.mask});
  CHECK(graph.values[graph.mask].shape == Shape{4, 8});
  for (const char* const path : {"lstm1", "simple_rnn1", "pool_steps1"}) {
    CAPTURE(path);
    CHECK(masks_of(graph, path) == "mask");
  }
  CHECK(masks_of(graph, "dense1") == "");
  const Graph asked = test::build(
      "{input: {steps: 8, features: 3, lengths: true}, layers: [lstm: {units: 4, mask: true}]}");
  CHECK(masks_of(asked, "lstm1") == "mask");
  CHECK(with_batch(graph, 7).values[graph.mask].shape == Shape{7, 8});
  const std::string yaml = expanded_yaml(graph);
  CAPTURE(yaml);
  CHECK(yaml.find("input: {steps: 8, features: 3, lengths: true}\n") != std::string::npos);
  CHECK(yaml.find("from: [dropout1, mask]") != std::string::npos);
  CHECK(expanded_yaml(test::build(yaml, {.batch = 4})) == yaml);
}

const char* const kBothWays = R"(
input: {steps: 8, features: 3, lengths: true}
layers:
  - {lstm: {units: 5, return_sequences: true, bidirectional: concat}, as: states}
  - {pool_steps: average, as: mean}
  - {gru: {units: 4, bidirectional: add, reset: after}, from: states, as: last}
  - {gru: {units: 4, bidirectional: add, reset: after}, from: states, share: last, as: again}
  - {concat: , from: [mean, last, again]}
)";

TEST_CASE("a layer of both directions is two layers of its input and their join") {
  const Graph graph = test::build(kBothWays, {.batch = 2});
  CHECK(test::output_of(graph) == Shape{2, 10 + 4 + 4});
  const Node& join = test::node_at(graph, "lstm1");
  CHECK(join.op->type() == "concat");
  CHECK(graph.values[join.outputs[0]].shape == Shape{2, 10, 1, 8});
  CHECK(graph.masks.at(join.outputs[0]) == graph.mask);
  for (const char* const path :
       {"lstm1.forward", "lstm1.backward", "gru1.forward", "gru2.backward", "pool_steps1"}) {
    CAPTURE(path);
    CHECK(masks_of(graph, path) == "mask");
  }
  CHECK(test::node_at(graph, "gru1.backward").inputs[0] == join.outputs[0]);
  CHECK(test::node_at(graph, "gru1").op->type() == "add");
  CHECK(test::node_at(graph, "gru2.backward").parameters_of == "gru1.backward");
  const std::int64_t lstm = 4 * 5 * (3 + 5 + 1), gru = 3 * 4 * (10 + 4 + 2);
  CHECK(totals(graph).parameters_trainable == 2 * (lstm + gru));
  const std::string yaml = expanded_yaml(graph);
  CAPTURE(yaml);
  CHECK(yaml.find("bidirectional") == std::string::npos);
  CHECK(test::output_of(test::build(yaml, {.batch = 2})) == test::output_of(graph));
}

TEST_CASE("mask_zero makes the tokens the mask of the layers that follow") {
  const std::string network =
      "{input: {tokens: 6, vocabulary: 9}, layers: [embedding: {units: 4, mask_zero: true}, "
      "tanh, lstm: 3, dense: 2]}";
  const Graph graph = test::build(network);
  CHECK(masks_of(graph, "lstm1") == "tokens");
  CHECK(test::node_at(graph, "lstm1").inputs[1] == graph.inputs[0]);
  CHECK(graph.mask < 0);
  const std::string yaml = expanded_yaml(graph);
  CAPTURE(yaml);
  CHECK(masks_of(test::build(yaml), "lstm1") == "tokens");
}

TEST_CASE("the mask of an output of sequences is known, and is no input if no layer reads it") {
  const Graph each = test::build(
      "{input: {steps: 8, features: 3, lengths: true}, layers: [dense: {units: 2, per_position: "
      "true}, softmax]}",
      {.batch = 4, .peel_activation = true});
  CHECK(each.inputs == std::vector<ValueId>{0});
  CHECK(each.masks.at(each.output) == each.mask);
  const Graph last = test::build(kLengths);
  CHECK_FALSE(last.masks.contains(last.output));
  const Graph normed = test::build(
      "{input: {steps: 8, features: 6, lengths: true}, layers: [layer_norm, slice: [1, 5], "
      "lstm: {units: 2, return_sequences: true}]}");
  CHECK(normed.masks.at(normed.output) == normed.mask);
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
