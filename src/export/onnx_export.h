// A network with its weights as an ONNX model.
//
// The folder export holds what other programs read and write: ONNX models, and weights under other
// programs' names.
//
// A model is data (onnx_model.h) until it is encoded. onnxruntime and OpenCV compute each shipped
// network and op where they are installed (scripts/judges.sh); elsewhere the suite requires the
// bytes that they accepted (tests/export/judged.txt).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/augment/pipeline.h"
#include "data/augment/pixel_transform.h"
#include "export/named_weights.h"
#include "export/onnx_layer.h"
#include "export/onnx_model.h"
#include "formats/json.h"
#include "graph/graph.h"

namespace trainyard {

/// What is done to a sample's values before the network reads them.
struct OnnxPreprocessing {
  std::vector<PixelTransform> steps;  // their values outlive it
  std::span<const float> whitening;   // [d, d] for samples of d elements, after the steps; or empty
};

/// The evaluation of `network`, which must not be fused, at any batch. Input: "tokens", int64 [n,
/// t], or "input", float32 in the network's shape, of values before `preprocessing`. Outputs:
/// "output", and the network's other outputs under their names. Batch norm uses the running
/// statistics; dropout and noise are left out. Throws Error{config} with every layer that ONNX
/// cannot express, its place in the network file, and why.
[[nodiscard]] OnnxModel onnx_model_of(const Graph& network, const NamedWeights& weights,
                                      const OnnxPreprocessing& preprocessing = {});

// Batch norm as part of the layer before it.

/// Changes the weights and bias of each Conv, ConvTranspose and Gemm whose output only a
/// BatchNormalization reads, in double, so that they give its output; others keep theirs. Constants
/// that no node reads any more are dropped. Returns how many are gone.
int fold_batch_norms(OnnxModel& model);

// Preprocessing at the front of an ONNX model.

/// What a prepared pipeline does to values; moving pixels is no part of it. Valid as long as
/// `pipeline`.
[[nodiscard]] OnnxPreprocessing preprocessing_of(const Pipeline& pipeline);

/// [{"step": "subtract_channel", "values": [125.3, 123.0, 113.9]}, ...]; of more than 16 values the
/// step alone, and "whiten" of a matrix.
[[nodiscard]] Json json_of(const OnnxPreprocessing& preprocessing);

/// Adds the nodes of `preprocessing` on the model's input, maps [n, c, h, w]; returns the name of
/// the result, which is the input's own if there is nothing to do.
[[nodiscard]] std::string preprocessed(OnnxModel& model, OnnxNames& names,
                                       const OnnxPreprocessing& preprocessing);

}  // namespace trainyard
