// The output of `train summary`.
#include "graph/summary.h"

#include <doctest/doctest.h>

#include "graph/words.h"
#include "support.h"

namespace trainyard {
namespace {

const char* const kSmall =
    "{input: [3, 8, 8], layers: [conv: [4, 3], bn, relu, concat: [[max_pool: 2], [avg_pool: 2]], "
    "dense: 10, softmax]}";

TEST_CASE("a summary has one row per node with its own sums") {
  const Summary summary = summarise(test::build(kSmall, {.batch = 5}));
  REQUIRE(summary.rows.size() == 7);
  const SummaryRow& conv = summary.rows[0];
  CHECK(conv.path == "conv1");
  CHECK(conv.type == "conv");
  CHECK(conv.output == Shape{5, 4, 6, 6});
  CHECK(conv.parameters == 4 * 3 * 9 + 4);
  CHECK(conv.multiply_adds == 4 * 6 * 6 * 27);
  CHECK(conv.activation_bytes == 5 * 4 * 36 * 4);
  CHECK(summary.rows[1].parameters == 8);
  CHECK(summary.rows[1].statistics == 8);
  std::size_t bytes = 0;
  for (const SummaryRow& row : summary.rows) bytes += row.activation_bytes;
  CHECK(summary.activation_bytes == bytes);
}

TEST_CASE("the text table aligns its columns and ends in the totals") {
  CHECK(summary_text(summarise(test::build(kSmall, {.batch = 5}))) ==
        "input [3, 8, 8], batch 5\n"
        "\n"
        "layer                type      output     parameters  multiply-adds  KiB\n"
        "conv1                conv      [4, 6, 6]         112          3,888  2.8\n"
        "bn1                  bn        [4, 6, 6]          16              0  2.8\n"
        "relu1                relu      [4, 6, 6]           0              0  2.8\n"
        "concat1.0.max_pool1  max_pool  [4, 3, 3]           0              0  0.7\n"
        "concat1.1.avg_pool1  avg_pool  [4, 3, 3]           0              0  0.7\n"
        "concat1              concat    [8, 3, 3]           0              0  1.4\n"
        "dense1               dense     [10]              730            720  0.2\n"
        "\n"
        "parameters     858 (850 trainable)\n"
        "multiply-adds  4,608 per sample, forward\n"
        "activations    0.0 MiB per batch of 5\n");
}

const char* const kBlocks = R"(
input: [3, 8, 8]
blocks:
  cbr: {args: [f], layers: [conv: [$f, 3], bn, relu]}
  pair: {args: [f], layers: [concat: [[cbr: $f], [cbr: $f]]]}
layers: [cbr: 4, pair: 2, pair: 2, global_avg_pool, dense: 10, softmax]
)";

TEST_CASE("a table folds the layers of a block to one row, whose numbers are their sums") {
  const Summary whole = summarise(test::build(kBlocks, {.batch = 2}));
  REQUIRE(whole.rows.size() == 19);
  const Summary summary = folded(whole, 1);
  REQUIRE(summary.rows.size() == 5);
  const SummaryRow &cbr = summary.rows[0], &pair = summary.rows[1];
  CHECK(cbr.path == "cbr1");
  CHECK(cbr.type == "3 layers");
  CHECK(cbr.parameters == 4 * 3 * 9 + 4 + 8);
  CHECK(cbr.statistics == 8);
  CHECK(cbr.multiply_adds == 4 * 36 * 27);
  CHECK(cbr.activation_bytes == 3 * 2 * 4 * 36 * 4);
  CHECK(pair.path == "pair1");
  CHECK(pair.type == "7 layers");
  CHECK(pair.output == Shape{2, 4, 4, 4});
  CHECK(summary.rows[3].path == "global_avg_pool1");
  CHECK(summary.rows[3].type == "global_avg_pool");
  CHECK(summary.totals.parameters_total == whole.totals.parameters_total);
  CHECK(summary_text(summary).find("pair2             7 layers         [4, 2, 2] ") !=
        std::string::npos);
}

TEST_CASE("more parts of the paths give more rows, and enough of them all") {
  const Summary whole = summarise(test::build(kBlocks, {.batch = 2}));
  const auto paths = [&](int depth) {
    std::vector<std::string> found;
    for (const SummaryRow& row : folded(whole, depth).rows) found.push_back(row.path);
    return found;
  };
  CHECK(paths(3) == std::vector<std::string>{"cbr1.conv1", "cbr1.bn1", "cbr1.relu1",
                                             "pair1.concat1.0", "pair1.concat1.1", "pair1.concat1",
                                             "pair2.concat1.0", "pair2.concat1.1", "pair2.concat1",
                                             "global_avg_pool1", "dense1"});
  CHECK(paths(5).size() == 19);
  CHECK(paths(100).size() == 19);
}

TEST_CASE("the JSON is a valid YAML flow map with the same rows") {
  const std::string text = summary_json(summarise(test::build(kSmall, {.batch = 5})));
  const config::Node json = config::parse_yaml(text, "summary.json");
  CHECK(json.find("parameters")->integer == 858);
  CHECK(json.find("parameters_trainable")->integer == 850);
  CHECK(json.find("multiply_adds")->integer == 4608);
  REQUIRE(json.find("layers")->items.size() == 7);
  const config::Node& conv = json.find("layers")->items[0];
  CHECK(conv.find("path")->text == "conv1");
  CHECK(conv.find("output")->items.at(1).integer == 4);
  CHECK(conv.find("attributes")->text.starts_with("{filters: 4, kernel: [3, 3]"));
}

/// Building the expanded YAML gives the same ops, shapes and edges. An input that a later layer
/// reads is named by an extra identity, which shifts all values by one.
void check_round_trip(const Graph& graph, std::size_t extra) {
  const std::string yaml = expanded_yaml(graph);
  INFO(yaml);
  const Graph again = test::build(yaml, {}, "expanded.yaml");
  REQUIRE(again.nodes.size() == graph.nodes.size() + extra);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& one = graph.nodes[i];
    const Node& two = again.nodes[i + extra];
    REQUIRE(one.op->type() == two.op->type());
    REQUIRE(one.op->attributes() == two.op->attributes());
    REQUIRE(one.signature.outputs == two.signature.outputs);
    REQUIRE(one.inputs.size() == two.inputs.size());
    for (std::size_t k = 0; k < one.inputs.size(); ++k) {
      REQUIRE(one.inputs[k] + static_cast<ValueId>(extra) == two.inputs[k]);
    }
  }
  CHECK(totals(again).parameters_total == totals(graph).parameters_total);
  CHECK(totals(again).multiply_adds == totals(graph).multiply_adds);
  CHECK(again.closing_activation == graph.closing_activation);
  REQUIRE(again.outputs.size() == graph.outputs.size());
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    CHECK(again.outputs[i].name == graph.outputs[i].name);
    CHECK(again.outputs[i].value == graph.outputs[i].value + static_cast<ValueId>(extra));
  }
}

TEST_CASE("named outputs survive in the expanded network") {
  check_round_trip(test::build(R"(
input: [6]
layers:
  - {dense: 8, as: trunk}
  - {dense: 4, as: aux}
  - {relu: , from: trunk}
  - {dense: 3, as: side}
  - dense: 4
outputs: [side, aux]
)"),
                   0);
}

TEST_CASE("a final activation is listed, with a remark if the loss computes it") {
  const std::string yaml = "{input: [6], layers: [dense: 4, softmax]}";
  const Graph whole = test::build(yaml, {.peel_activation = false});
  const Summary with_loss = summarise(whole, true);
  REQUIRE(with_loss.rows.size() == 2);
  CHECK(with_loss.rows[1].path == "softmax1");
  CHECK(with_loss.rows[1].activation_bytes == 0);
  CHECK(summary_text(with_loss).find("softmax1  softmax (computed with the loss)  [4]") !=
        std::string::npos);
  CHECK(with_loss.activation_bytes == summarise(test::build(yaml)).activation_bytes);
  const Summary alone = summarise(whole);
  CHECK(summary_text(alone).find("with the loss") == std::string::npos);
  CHECK(alone.rows[1].activation_bytes == 16);
}

TEST_CASE("the macro-free YAML builds an equal graph") {
  for (const char* file :
       {"models/minigooglenet.yaml", "models/resnet_cifar.yaml", "models/keras_cnn.yaml",
        "models/shapes_cnn.yaml", "models/resnet_v2_cifar.yaml", "models/mxnet_resnext110.yaml",
        "models/resnext29_cifar.yaml", "models/keras_resnet50.yaml", "models/resnet50.yaml",
        "models/imdb_lstm.yaml", "models/char_lstm.yaml", "models/char_lstm_positions.yaml"}) {
    check_round_trip(test::build_file(file), 0);
  }
  check_round_trip(
      test::build("{input: [3, 8, 8], layers: [add: [[conv: [3, 1]], []], global_avg_pool]}"), 1);
  check_round_trip(
      test::build("{input: [3, 8, 8], layers: [{conv: [3, 1], as: a}, relu, {conv: [3, 1], share: "
                  "a}, add: [[], [{conv: [3, 1], share: conv2}]], dense: 2]}"),
      0);
}

TEST_CASE("the description of networks names every op and its keys") {
  const auto fields = describe_network();
  std::vector<std::string> keys;
  for (const auto& field : fields) keys.push_back(field.key);
  CHECK(keys == std::vector<std::string>{"profile", "include", "vars", "input", "defaults",
                                         "blocks", "outputs", "layers"});
  const auto& layers = fields.back();
  CHECK(layers.open);
  CHECK(layers.members.size() == op_kinds().size() + 3);
  CHECK(layers.members[0].name == "conv");
  CHECK(layers.members[0].fields.at(0).key == "filters");
  CHECK(layers.members[0].fields.at(0).required);
  const auto& defaults = fields[4];
  CHECK(defaults.fields.at(0).key == "conv");
  CHECK_FALSE(defaults.fields.at(0).fields.at(0).required);
}

}  // namespace
}  // namespace trainyard
