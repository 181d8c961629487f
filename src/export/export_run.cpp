#include "export/export_run.h"

#include "data/augment/pipeline.h"
#include "export/onnx_export.h"
#include "formats/json.h"
#include "graph/build.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"

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

/// Which run and epoch the weights are of, and the names of the classes as a JSON list.
std::map<std::string, std::string> metadata_of(const StoredModel& stored) {
  std::map<std::string, std::string> metadata{{"weights", title_of(stored)}};
  if (stored.samples && !stored.samples->class_names.empty()) {
    metadata["class_names"] = Json(stored.samples->class_names).dump();
  }
  return metadata;
}

}  // namespace

OnnxModel onnx_of(const StoredModel& stored, const OnnxRequest& request) {
  Graph network = build_whole_network(stored.config, replica_batch(stored.config, 1));
  const NamedWeights weights =
      read_named_weights(stored.weights.tensors, stored.weights.path.string(), network);
  if (request.logits) peel_closing(network);
  OnnxModel model;
  if (request.preprocess) {
    const Pipeline pipeline = prepared_pipeline(stored, network);
    model = onnx_model_of(network, weights, preprocessing_of(pipeline));
  } else {
    model = onnx_model_of(network, weights);
  }
  if (request.fold) fold_batch_norms(model);
  model.metadata = metadata_of(stored);
  return model;
}

SafetensorsImage weights_image(std::span<const NamedTensor> tensors) {
  return encode_safetensors(tensors, {{"format", "trainyard"}});
}

SafetensorsImage safetensors_of(const StoredModel& stored) {
  return weights_image(stored.weights.tensors.tensors());
}

}  // namespace trainyard
