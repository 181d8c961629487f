// Batch norm as part of the layer before it.
#pragma once

#include "export/onnx_model.h"

namespace trainyard {

/// Changes the weights and bias of each Conv, ConvTranspose and Gemm whose output only a
/// BatchNormalization reads, in double, so that they give its output; others keep theirs. Constants
/// that no node reads any more are dropped. Returns how many are gone.
int fold_batch_norms(OnnxModel& model);

}  // namespace trainyard
