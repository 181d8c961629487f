// Several losses, and weights of samples, in a run file.
#include <doctest/doctest.h>

#include <algorithm>

#include "data/sets/memory_dataset.h"
#include "graph_refusal.h"
#include "run/config/best_metric_choice.h"
#include "run/config/layer_overrides.h"
#include "run/config/losses.h"
#include "run/session/session_model.h"
#include "run/session/session_weights.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A run whose network has an output 'aux', with more keys.
std::string with_aux(const std::string& keys, const std::string& aux = "dense: 3") {
  return "name: tiny\nnetwork:\n  input: [1, 2, 3]\n  layers:\n    - {identity: , as: trunk}\n    "
         "- {" +
         aux + ", as: aux}\n    - {flatten: , from: trunk}\n    - dense: 3\n  outputs: [aux]\n" +
         "batch: {per_gpu: 2}\nloss: cross_entropy\noptimizer: sgd\nepochs: 1\n" +
         R"(data:
  train: {source: synthetic, shape: [1, 2, 3], classes: 3, size: 10}
  val: {source: synthetic, shape: [1, 2, 3], classes: 3, size: 10, split: test}
)" + keys;
}

/// One output, with more keys.
RunConfig plain(const std::string& keys) {
  return read_run(
      R"(name: tiny
network: {input: [1, 2, 3], layers: [dense: 3]}
batch: {per_gpu: 2}
loss: cross_entropy
optimizer: sgd
epochs: 1
data:
  train: {source: synthetic, shape: [1, 2, 3], classes: 3, size: 10}
  val: {source: synthetic, shape: [1, 2, 3], classes: 3, size: 10, split: test}
)" + keys);
}

MemoryDataset three_classes(std::vector<std::int32_t> labels) {
  MemorySamples samples{.image = {1, 1, 1},
                        .floats = std::vector<float>(labels.size()),
                        .labels = std::move(labels),
                        .classes = 3,
                        .class_names = {"cat", "dog", "ant"}};
  return MemoryDataset(std::move(samples));
}

std::vector<float> class_weights(const std::string& keys) {
  const MemoryDataset set = three_classes({0, 1, 2, 0});
  return class_weight_policy(plain(keys), set).value().of_class;
}

}  // namespace

TEST_CASE("each head has a column, metrics name their output, and one node adds the losses") {
  const RunConfig run =
      read_run(with_aux("heads: [cross_entropy: {output: aux, weight: 0.25}]\n"
                        "metrics: [accuracy, {top_k: {k: 2, output: aux}}]\n"));
  const TrainingGraph graph = make_training_graph(run, 2);
  const std::vector<std::string> columns{"accuracy", "aux_top2_accuracy", "output_loss",
                                         "aux_loss"};
  CHECK(std::ranges::equal(graph.metrics, columns, {}, &GraphMetric::column));
  CHECK(metric_names(run) == columns);
  const Node& root = graph.graph.nodes[graph.graph.values[graph.loss].producer];
  CHECK(root.path == "loss");
  CHECK(root.op->attributes() == "{weights: [1, 0.25]}");
  CHECK(metric_sums(graph) == 4);
  const std::vector<double> sums{6, 8, 12, 20};
  CHECK(metric_values(graph, sums, 10) == std::vector<double>{0.6, 0.8, 1.2, 2});
}

TEST_CASE("with weights a mean of losses is over their sum, and metrics count what has one") {
  const TrainingGraph graph =
      make_training_graph(plain("class_weights: {0: 2}\nmetrics: [accuracy]\n"), 2);
  REQUIRE(metric_sums(graph) == 3);
  const std::vector<double> sums{3, 12.5, 6};
  CHECK(total_weight(graph, sums, 10) == 12.5);
  CHECK(counted_rows(graph, sums, 10) == 6);
  CHECK(metric_values(graph, sums, 10) == std::vector<double>{0.5});
}

TEST_CASE("outputs and heads that do not fit are refused") {
  CHECK(graph_refusal(with_aux("heads: [cross_entropy: {output: aux}]\n")) == "accepted");
  CHECK(graph_refusal(with_aux("")) ==
        "3:3: output 'aux' of the network has no loss; add it to 'heads', as in heads: "
        "[cross_entropy: {output: aux, weight: 0.3}]");
  const std::string both = "heads: [cross_entropy: {output: aux}, mse: {output: side}]\n";
  CHECK(graph_refusal(with_aux(both)) ==
        "the network has no output 'side'; its named outputs are 'aux' (the key 'outputs' of the "
        "network names them)");
  CHECK(graph_refusal(with_aux("heads: [mse, cross_entropy: {output: aux}]\n"))
            .find("'heads' has a second loss on the last layer; give each its own 'output'") !=
        std::string::npos);
  CHECK(graph_refusal(
            with_aux("heads: [cross_entropy: {output: aux}]\n", "dense: 3}\n    - {softmax: "))
            .find("output 'aux' ends with softmax, but its loss cross_entropy includes a softmax; "
                  "delete the layer") != std::string::npos);
}

TEST_CASE("a target of numbers is a field as wide as the output") {
  const RunConfig run = read_run(with_aux("heads: [mse: {output: aux, target: t}]\n"));
  const Graph network = build_network(run, 2);
  CHECK(usual_fields(run, network) ==
        std::vector<SampleField>{{}, {.name = "t", .shape = {3}, .type = DType::f32}});
  const auto with_field = [&](const SampleField& field) {
    return trainyard::test::refusal([&] {
      static_cast<void>(training_graph_of(run, network, {SampleField{}, field}));
    });
  };
  CHECK(with_field({.name = "t", .shape = {3}, .type = DType::f32}) == "accepted");
  CHECK(with_field({.name = "u", .shape = {3}, .type = DType::f32}) ==
        "the data have no field 't'; their fields are 'label', 'u'");
  CHECK(with_field({.name = "t", .shape = {4}, .type = DType::f32})
            .starts_with("layer 'aux_loss': mse needs labels [2] or targets [2, 3], found [2, 4]"));
}

TEST_CASE("class weights are named by class or number, the others are 1") {
  CHECK(class_weights("class_weights: {dog: 2, 2: 0.5}\n") == std::vector<float>{1, 2, 0.5f});
  CHECK(class_weights("class_weights: balanced\n") ==
        std::vector<float>{2.0f / 3, 4.0f / 3, 4.0f / 3});
  CHECK(class_weights("sample_weights: importance\n").empty());
  CHECK_FALSE(class_weight_policy(plain(""), three_classes({0, 1})).has_value());
}

TEST_CASE("class weights that cannot be are refused with their place") {
  const auto refused = [](const std::string& keys) {
    return trainyard::test::refusal([&] { static_cast<void>(class_weights(keys)); });
  };
  CHECK(refused("class_weights: {dogs: 2}\n") ==
        "10:17: class_weights: the data have no class 'dogs'; did you mean 'dog'?");
  CHECK(refused("class_weights: {dog: -1}\n") ==
        "10:22: class_weights: expected a weight of at least 0, found number -1");
  CHECK(refused("class_weights: even\n") ==
        "10:16: class_weights: expected a map of classes and weights, or 'balanced', found text "
        "'even'");
}

TEST_CASE("a sample without a class is refused unless it is ignored") {
  const MemoryDataset set = three_classes({0, -1, 2});
  CHECK(trainyard::test::refusal([&] { static_cast<void>(class_weight_policy(plain(""), set)); }) ==
        "sample 1 (from 0) of the training split has label -1, which is not a class; to leave out "
        "such samples, set 'ignore_label: -1'");
  CHECK(class_weight_policy(plain("ignore_label: -1\n"), set)->weight(-1, 1) == 0);
  CHECK(
      trainyard::test::refusal([&] { require_labels(plain(""), set, "the validation split"); }) ==
      "sample 1 (from 0) of the validation split has label -1, which is not a class; to leave out "
      "such samples, set 'ignore_label: -1'");
  require_labels(plain("ignore_label: -1\n"), set, "the validation split");
}
