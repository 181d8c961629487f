#include "export/onnx_layer.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/sequence.h"

namespace trainyard {
namespace {

OnnxLayer::Dims dims_of(const config::Pair& pair) { return {pair.h, pair.w}; }

/// What Conv and ConvTranspose share.
OnnxAttributes convolution_attributes(const OnnxLayer& layer) {
  const auto& op = layer.op<ConvolutionOp>();
  const ConvAttributes& conv = op.values();
  const Margins margins = op.margins(layer.input_shape());
  return {{"kernel_shape", dims_of(conv.kernel)},
          {"strides", dims_of(conv.stride)},
          {"dilations", dims_of(conv.dilation)},
          {"group", conv.groups},
          {"pads", OnnxLayer::Dims{margins.top, margins.left, margins.bottom, margins.right}}};
}

/// The input, the weights in these dims, and the bias if there is one.
OnnxLayer::Inputs with_parameters(const OnnxLayer& layer, const std::string& input,
                                  OnnxLayer::Dims dims, std::int64_t outputs) {
  OnnxLayer::Inputs inputs = {input, layer.parameter("weight", std::move(dims))};
  if (layer.weight("bias") != nullptr) inputs.push_back(layer.parameter("bias", {outputs}));
  return inputs;
}

}  // namespace

void emit_conv(const OnnxLayer& layer) {
  const ConvAttributes& conv = layer.op<ConvOp>().values();
  const OnnxLayer::Dims dims = {conv.filters, layer.input_shape().c() / conv.groups, conv.kernel.h,
                                conv.kernel.w};
  layer.put("Conv", with_parameters(layer, layer.input(), dims, conv.filters),
            convolution_attributes(layer));
}

/// ONNX's output has (input - 1) * stride + output_padding + (kernel - 1) * dilation + 1 - pads.
void emit_conv_transpose(const OnnxLayer& layer) {
  const auto& op = layer.op<ConvTransposeOp>();
  const ConvAttributes& conv = op.values();
  const Shape in = layer.input_shape(), out = layer.output_shape();
  const Margins margins = op.margins(in);
  const std::int64_t h = (in.h() - 1) * conv.stride.h + (conv.kernel.h - 1) * conv.dilation.h + 1;
  const std::int64_t w = (in.w() - 1) * conv.stride.w + (conv.kernel.w - 1) * conv.dilation.w + 1;
  OnnxAttributes attributes = convolution_attributes(layer);
  attributes.emplace_back("output_padding",
                          OnnxLayer::Dims{out.h() - (h - margins.top - margins.bottom),
                                          out.w() - (w - margins.left - margins.right)});
  const OnnxLayer::Dims dims = {in.c(), conv.filters / conv.groups, conv.kernel.h, conv.kernel.w};
  layer.put("ConvTranspose", with_parameters(layer, layer.input(), dims, conv.filters),
            std::move(attributes));
}

/// Per position it is a 1x1 convolution.
void emit_dense(const OnnxLayer& layer) {
  const DenseAttributes& dense = layer.op<DenseOp>().values();
  const Shape in = layer.input_shape();
  if (dense.per_position) {
    const OnnxLayer::Inputs inputs =
        with_parameters(layer, layer.input(), {dense.units, in.c(), 1, 1}, dense.units);
    return layer.put("Conv", inputs);
  }
  const std::string rows = in.rank() == 2
                               ? layer.input()
                               : layer.add("Flatten", {layer.input()}, {{"axis", std::int64_t{1}}});
  const std::int64_t features = in.c() * in.h() * in.w();
  layer.put("Gemm", with_parameters(layer, rows, {dense.units, features}, dense.units),
            {{"transB", std::int64_t{1}}});
}

void emit_embedding(const OnnxLayer& layer) {
  const EmbeddingAttributes& embedding = layer.op<EmbeddingOp>().values();
  const std::string weight = layer.parameter("weight", {embedding.vocabulary, embedding.units});
  const std::string rows = layer.add("Gather", {weight, layer.input()});  // [n, t, units]
  const std::string columns = layer.add("Transpose", {rows}, {{"perm", OnnxLayer::Dims{0, 2, 1}}});
  layer.put("Unsqueeze", {columns, layer.integers("axes", {2})});
}

void emit_one_hot(const OnnxLayer& layer) {
  const std::string depth = layer.integers("depth", {layer.output_shape().c()});
  const std::string values = layer.constant("values", {2}, {0, 1});
  const std::string columns =
      layer.add("OneHot", {layer.input(), depth, values}, {{"axis", std::int64_t{1}}});
  layer.put("Unsqueeze", {columns, layer.integers("axes", {2})});
}

}  // namespace trainyard
