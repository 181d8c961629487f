#include "export/export_run.h"

#include <algorithm>

#include "data/augment/pipeline.h"
#include "data/sets/table_form.h"
#include "data/sets/vocabulary.h"
#include "export/onnx_export.h"
#include "formats/json.h"
#include "graph/build.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"
#include "run/config/losses.h"

namespace trainyard {
namespace {

/// The run's preprocessing for images of the network's input.
Pipeline prepared_pipeline(const StoredModel& stored, const Graph& network) {
  if (network.vocabulary > 0) {
    refuse_command("--preprocess: the network reads tokens, which have no preprocessing");
  }
  const Shape& input = network.values[network.inputs[0]].shape;
  Pipeline pipeline({input.c(), input.h(), input.w()}, {}, stored.config.data.preprocess);
  pipeline.prepare(stored.statistics);
  if (pipeline.whitens()) pipeline.whiten_with(stored.statistics.whitening);
  return pipeline;
}

/// Which run and epoch the weights are of, and, as JSON, what its data made of samples: the names
/// of the classes, the columns of a table, the vocabulary of texts.
std::map<std::string, std::string> metadata_of(const StoredModel& stored) {
  std::map<std::string, std::string> metadata{{"weights", title_of(stored)}};
  if (stored.vocabulary && stored.vocabulary->has_texts()) {
    metadata["vocabulary"] = vocabulary_json(*stored.vocabulary);
  }
  if (!stored.samples) return metadata;
  if (!stored.samples->class_names.empty()) {
    metadata["class_names"] = Json(stored.samples->class_names).dump();
  }
  if (stored.samples->table) metadata["table"] = json_of(*stored.samples->table).dump();
  return metadata;
}

std::string constant(OnnxModel& model, const std::string& name, const std::vector<double>& values) {
  model.constants[name] = {{std::ssize(values)}, std::vector<float>(values.begin(), values.end())};
  return name;
}

/// Gives an output of the model the units that its standardised target had before.
void restore_units(OnnxModel& model, const std::string& output, const SampleField& field) {
  const std::string standard = output + ".standardised", scaled = output + ".scaled";
  for (OnnxNode& node : model.nodes) {
    std::ranges::replace(node.inputs, output, standard);
    std::ranges::replace(node.outputs, output, standard);
  }
  const std::string deviation = constant(model, output + ".deviation", field.deviation);
  const std::string mean = constant(model, output + ".mean", field.mean);
  model.nodes.push_back({"Mul", scaled, {standard, deviation}, {scaled}, {}});
  model.nodes.push_back({"Add", output, {scaled, mean}, {output}, {}});
}

/// Does so for each output whose loss has such a target, and notes the targets in the metadata.
void describe_targets(OnnxModel& model, const StoredModel& stored) {
  if (!stored.samples) return;
  Json targets;
  for (const auto& loss : losses_of(stored.config)) {
    const auto& fields = stored.samples->fields;
    const auto field = std::ranges::find(fields, loss->values().target, &SampleField::name);
    if (field == fields.end()) continue;
    const std::string& own = loss->values().output;
    const std::string output = own.empty() ? "output" : own;
    if (!field->mean.empty()) restore_units(model, output, *field);
    targets[output] = json_of(*field);
    for (const char* const of_file : {"shape", "floats", "front"}) targets[output].erase(of_file);
  }
  if (!targets.is_null()) model.metadata["targets"] = targets.dump();
}

/// Adds the run's preprocessing to the model, or notes in the metadata what remains to do.
OnnxModel prepared_model(const StoredModel& stored, const Graph& network,
                         const NamedWeights& weights, bool preprocess) {
  if (!preprocess && (network.vocabulary > 0 || stored.config.data.preprocess.empty())) {
    return onnx_model_of(network, weights);
  }
  const Pipeline pipeline = prepared_pipeline(stored, network);
  const OnnxPreprocessing steps = preprocessing_of(pipeline);
  OnnxModel model = onnx_model_of(network, weights, preprocess ? steps : OnnxPreprocessing{});
  if (!preprocess) model.metadata["preprocessing"] = json_of(steps).dump();
  return model;
}

}  // namespace

OnnxModel onnx_of(const StoredModel& stored, const OnnxRequest& request) {
  Graph network = build_whole_network(stored.config, replica_batch(stored.config, 1));
  const NamedWeights weights =
      read_named_weights(stored.weights.tensors, stored.weights.path.string(), network);
  if (request.logits) peel_closing(network);
  OnnxModel model = prepared_model(stored, network, weights, request.preprocess);
  if (request.fold) fold_batch_norms(model);
  model.metadata.merge(metadata_of(stored));
  describe_targets(model, stored);
  return model;
}

SafetensorsImage weights_image(std::span<const NamedTensor> tensors) {
  return encode_safetensors(tensors, {{"format", "trainyard"}});
}

SafetensorsImage safetensors_of(const StoredModel& stored) {
  return weights_image(stored.weights.tensors.tensors());
}

}  // namespace trainyard
