#include "evaluated.h"

#include <cstring>
#include <numeric>

#include "base/philox.h"
#include "checkpoint/tensor_slots.h"
#include "model/batch_outputs.h"
#include "run/session/session_device.h"
#include "small_training.h"

namespace trainyard::export_tests {
namespace {

/// With a loss for each named output.
TrainingGraph graph_of(const config::Node& network, std::int64_t batch) {
  std::vector<std::string> heads;
  if (const config::Node* const outputs = network.find("outputs")) {
    for (const config::Node& name : outputs->items) heads.push_back("{output: " + name.text + "}");
  }
  return test::training_graph(network, batch, heads, false);
}

void fill(Model& model, const NamedWeights& weights) {
  for (const TensorSlot& slot : weight_slots(model, model.memory().trained())) {
    model.compute().queue.copy_from_host(slot.data, weights.at(slot.name).data(), slot.bytes);
  }
  model.publish_weights(WeightChange::load);
}

std::uint32_t word(std::size_t index) {
  return random4(17, RandomStream::synthetic, 0, 0, index).word[0];
}

void draw_input(const Graph& graph, Evaluated& evaluated) {
  const auto count = static_cast<std::size_t>(evaluated.input_shape.elements());
  for (std::size_t i = 0; i < count; ++i) {
    if (graph.vocabulary > 0) {
      evaluated.tokens.push_back(word(i) % static_cast<std::uint32_t>(graph.vocabulary));
    } else {
      evaluated.input.push_back(2 * uniform01(word(i)) - 1);
    }
  }
}

/// The fields of a batch: tokens, and labels of 0.
std::vector<std::vector<std::int32_t>> fields_of(const TrainingGraph& graph,
                                                 const Evaluated& evaluated) {
  std::vector<std::vector<std::int32_t>> fields;
  for (const GraphField& field : graph.fields) {
    const auto count = static_cast<std::size_t>(graph.graph.values[field.value].shape.elements());
    fields.emplace_back(count, 0);
    if (field.value != graph.graph.inputs[0]) continue;
    fields.back().assign(evaluated.tokens.begin(), evaluated.tokens.end());
  }
  return fields;
}

}  // namespace

Evaluated evaluate(const config::Node& network, const NamedWeights& weights, std::int64_t batch,
                   const std::vector<float>& input) {
  const TrainingGraph graph = graph_of(network, batch);
  const SessionDevice device = make_device({.kind = DeviceChoice::Kind::cpu}, RunConfig{});
  ModelOptions options{.target = device.target, .threads = device.threads, .train = false};
  Model model(graph, device.compute(), options);
  fill(model, weights);
  Evaluated evaluated{.input_shape = graph.graph.values[graph.graph.inputs[0]].shape};
  evaluated.input = input;
  if (input.empty()) draw_input(graph.graph, evaluated);
  const auto fields = fields_of(graph, evaluated);
  std::vector<std::int64_t> index(static_cast<std::size_t>(batch));
  std::iota(index.begin(), index.end(), 0);
  Batch loaded{.images = evaluated.input, .fields = {}, .sample_index = index, .valid = batch};
  for (const auto& field : fields) loaded.fields.push_back(std::as_bytes(std::span(field)));
  BatchOutputs outputs(model, device.threads);
  model.load(loaded);
  model.evaluate();
  evaluated.logits = outputs.read();
  evaluated.logits_shape = graph.graph.values[graph.graph.output].shape;
  return evaluated;
}

}  // namespace trainyard::export_tests
