// Preprocessing at the front of an ONNX model.
#pragma once

#include <string>

#include "data/augment/pipeline.h"
#include "export/onnx_export.h"
#include "export/onnx_layer.h"

namespace trainyard {

/// What a prepared pipeline does to values; moving pixels is no part of it. Valid as long as
/// `pipeline`.
[[nodiscard]] OnnxPreprocessing preprocessing_of(const Pipeline& pipeline);

/// Adds the nodes of `preprocessing` on the model's input, maps [n, c, h, w]; returns the name of
/// the result, which is the input's own if there is nothing to do.
[[nodiscard]] std::string preprocessed(OnnxModel& model, OnnxNames& names,
                                       const OnnxPreprocessing& preprocessing);

}  // namespace trainyard
