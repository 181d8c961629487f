// A cuDNN that follows a script: descriptors that store what is set, and engines that fail or serve
// as told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/conv/cudnn/library.h"

namespace trainyard::testing {

/// An engine that the script proposes, in the order of the script.
struct ScriptedEngine {
  std::int64_t index = 0;
  std::vector<cudnn::Knob> knobs = {};
  std::vector<cudnnBackendNumericalNote_t> notes = {};
  std::int64_t workspace_bytes = 0;
  bool adds_bias = false;    // it belongs to graphs that add a bias, and to no others
  bool adds_result = false;  // ... that add their result, and to no others
  bool fallback = false;     // the fallback list has it, else mode A
  cudnnStatus_t plan = CUDNN_STATUS_SUCCESS;  // the result of making its plan
};

/// What the script does, and how often it was called. C functions can only reach statics.
struct ScriptedCudnn {
  std::vector<ScriptedEngine> engines = {};
  cudnnStatus_t mode_a = CUDNN_STATUS_SUCCESS;
  int plans = 0;        // made, or tried
  int descriptors = 0;  // living descriptors
  int lists = 0;        // lists of proposals, requested
};

/// A library whose script is scripted_cudnn(), which is emptied.
[[nodiscard]] cudnn::Library scripted_library();
[[nodiscard]] ScriptedCudnn& scripted_cudnn();

/// A convolution of 8 channels to 8 over 4 by 4 pixels, in a GPU's layout.
[[nodiscard]] cudnn::ConvGraph small_conv(DType type);

}  // namespace trainyard::testing
