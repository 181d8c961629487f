// A trained network of a run in formats of other programs.
#pragma once

#include "export/onnx_model.h"
#include "formats/safetensors.h"
#include "run/stored_model.h"

namespace trainyard {

struct OnnxRequest {
  bool preprocess = false;  // the run's preprocessing at the front: the input is raw values
  bool fold = false;        // batch norm into the layer before it
  bool logits = false;      // without the closing activation
};

/// Throws as onnx_model_of(); Error{checkpoint} for weights of another network; Error{command_line}
/// for preprocessing of tokens.
[[nodiscard]] OnnxModel onnx_of(const StoredModel& stored, const OnnxRequest& request);

/// The file of the weights: parameters and running statistics under their layers' paths. Valid as
/// long as `stored`.
[[nodiscard]] SafetensorsImage safetensors_of(const StoredModel& stored);
/// The same of any tensors: what files of weights have as their metadata is the same everywhere.
[[nodiscard]] SafetensorsImage weights_image(std::span<const NamedTensor> tensors);

}  // namespace trainyard
