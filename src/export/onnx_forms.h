// How ONNX expresses each op, in evaluation.
//
// To add an op: a line in the list of onnx_forms.cpp, with its function if that is more than a
// name.
#pragma once

#include <span>
#include <string_view>

#include "export/onnx_layer.h"

namespace trainyard {

/// One op's form.
struct OnnxForm {
  std::string_view op;  // Op::type()
  /// Adds the nodes of a layer of this op. Throws Inexpressible with the reason if ONNX lacks what
  /// the layer's attributes ask for.
  void (*emit)(const OnnxLayer& layer);
};

/// One for each op that a network may name.
[[nodiscard]] std::span<const OnnxForm> onnx_forms();

// Layers with weights (onnx_products.cpp, onnx_recurrent.cpp).
void emit_conv(const OnnxLayer& layer);
void emit_conv_transpose(const OnnxLayer& layer);
void emit_dense(const OnnxLayer& layer);
void emit_embedding(const OnnxLayer& layer);
void emit_one_hot(const OnnxLayer& layer);
void emit_recurrent(const OnnxLayer& layer);

// Normalisations (onnx_norms.cpp).
void emit_bn(const OnnxLayer& layer);
void emit_layer_norm(const OnnxLayer& layer);
void emit_group_norm(const OnnxLayer& layer);  // instance norm too
void emit_lrn(const OnnxLayer& layer);
void emit_scale(const OnnxLayer& layer);
void emit_prelu(const OnnxLayer& layer);

// Parts and shapes of maps (onnx_maps.cpp).
void emit_pool(const OnnxLayer& layer);
void emit_global_pool(const OnnxLayer& layer);
void emit_pool_steps(const OnnxLayer& layer);
void emit_upsample(const OnnxLayer& layer);
void emit_pad(const OnnxLayer& layer);
void emit_crop(const OnnxLayer& layer);
void emit_slice(const OnnxLayer& layer);
void emit_permute(const OnnxLayer& layer);
void emit_reshape(const OnnxLayer& layer);  // flatten too

}  // namespace trainyard
