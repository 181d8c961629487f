#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "export/onnx_layer.h"
#include "ops/bn.h"
#include "ops/convolution.h"
#include "ops/dense.h"
#include "ops/recurrent.h"
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

using Dims = OnnxLayer::Dims;

float real(const config::Node& attributes, const char* key) {
  return static_cast<float>(attributes.find(key)->real);
}

/// Multiplies by gamma and adds beta, as far as the layer has them; the result is the layer's.
void put_affine(const OnnxLayer& layer, std::string value) {
  const OnnxLayer::Floats* const gamma = layer.weight("gamma");
  const OnnxLayer::Floats* const beta = layer.weight("beta");
  if (gamma != nullptr) value = layer.add("Mul", {value, layer.per_channel("gamma", *gamma)});
  if (beta != nullptr) value = layer.add("Add", {value, layer.per_channel("beta", *beta)});
  layer.pass(value);
}

using Floats = OnnxLayer::Floats;
using Attributes = RecurrentAttributes;

/// Our gates in ONNX's order: of an lstm i, f, g, o as i, o, f, c, of a gru r, z, n as z, r, h.
std::vector<std::size_t> gate_order(Attributes::Cell cell) {
  if (cell == Attributes::Cell::lstm) return {0, 3, 1, 2};
  if (cell == Attributes::Cell::gru) return {1, 0, 2};
  return {0};
}

/// Blocks of rows, one a gate, in ONNX's order.
Floats reordered(const Floats& values, Attributes::Cell cell) {
  const std::vector<std::size_t> order = gate_order(cell);
  const std::size_t block = values.size() / order.size();
  Floats ordered;
  ordered.reserve(values.size());
  for (const std::size_t gate : order) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(gate * block);
    ordered.insert(ordered.end(), first, first + static_cast<std::ptrdiff_t>(block));
  }
  return ordered;
}

/// Both biases in one; without a second one 0.
Floats biases(const OnnxLayer& layer, Attributes::Cell cell, bool two) {
  Floats bias = reordered(*layer.weight("bias"), cell);
  if (!two) {
    bias.resize(2 * bias.size());
    return bias;
  }
  const Floats second = reordered(*layer.weight("recurrent_bias"), cell);
  bias.insert(bias.end(), second.begin(), second.end());
  return bias;
}

/// The functions of the gates, of the new values and of an lstm's cell; of a simple_rnn the one it
/// has.
OnnxAttributes attributes_of(const Attributes& recurrent) {
  const std::string value = recurrent.activation == Attributes::Activation::relu ? "Relu" : "Tanh";
  OnnxAttributes attributes = {
      {"hidden_size", recurrent.units},
      {"direction", std::string(recurrent.backwards ? "reverse" : "forward")}};
  if (recurrent.cell == Attributes::Cell::simple_rnn) {
    attributes.emplace_back("activations", std::vector<std::string>{value});
    return attributes;
  }
  const bool hard = recurrent.gates == Attributes::Gates::hard_sigmoid;
  std::vector<std::string> activations = {hard ? "HardSigmoid" : "Sigmoid", value};
  if (recurrent.cell == Attributes::Cell::lstm) {
    activations.push_back(value);
  } else {
    attributes.emplace_back("linear_before_reset",
                            std::int64_t{recurrent.reset == Attributes::Reset::after});
  }
  attributes.emplace_back("activations", std::move(activations));
  if (hard) {
    attributes.emplace_back("activation_alpha", Floats{0.2F});
    attributes.emplace_back("activation_beta", Floats{0.5F});
  }
  return attributes;
}

/// [n, c, 1, t] as ONNX's [t, n, c].
std::string steps_first(const OnnxLayer& layer) {
  const std::string columns = layer.add("Squeeze", {layer.input(), layer.integers("one_row", {2})});
  return layer.add("Transpose", {columns}, {{"perm", Dims{2, 0, 1}}});
}

/// ONNX puts out a reverse layer's states in the order of its input.
std::string in_order_of_computation(const OnnxLayer& layer, const std::string& states) {
  const std::string first = layer.integers("last_step", {-1});
  const std::string end = layer.integers("before_all", {std::numeric_limits<std::int64_t>::min()});
  return layer.add(
      "Slice", {states, first, end, layer.integers("steps", {0}), layer.integers("back", {-1})});
}

/// [t, 1, n, units] to [n, units, 1, t].
void put_states(const OnnxLayer& layer, std::string states, bool backwards) {
  if (backwards) states = in_order_of_computation(layer, states);
  layer.put("Transpose", {states}, {{"perm", Dims{2, 3, 1, 0}}});
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

void emit_bn(const OnnxLayer& layer) {
  const std::int64_t c = layer.input_shape().c();
  layer.put("BatchNormalization",
            {layer.input(), layer.constant("gamma", {c}, layer.weight_or("gamma", c, 1)),
             layer.constant("beta", {c}, layer.weight_or("beta", c, 0)),
             layer.constant("running_mean", {c}, *layer.weight("running_mean")),
             layer.constant("running_var", {c}, *layer.weight("running_var"))},
            {{"epsilon", static_cast<float>(layer.op<BnOp>().values().eps)}});
}

/// ONNX's is over the last axes, so the channels go there and back.
void emit_layer_norm(const OnnxLayer& layer) {
  const std::int64_t c = layer.input_shape().c();
  const OnnxLayer::Inputs parameters = {
      layer.constant("gamma", {c}, layer.weight_or("gamma", c, 1)),
      layer.constant("beta", {c}, layer.weight_or("beta", c, 0))};
  const OnnxAttributes attributes = {{"axis", std::int64_t{-1}},
                                     {"epsilon", real(layer.attributes(), "eps")}};
  if (layer.input_shape().rank() == 2) {
    return layer.put("LayerNormalization", {layer.input(), parameters[0], parameters[1]},
                     attributes);
  }
  const std::string last = layer.add("Transpose", {layer.input()}, {{"perm", Dims{0, 2, 3, 1}}});
  const std::string normal =
      layer.add("LayerNormalization", {last, parameters[0], parameters[1]}, attributes);
  layer.put("Transpose", {normal}, {{"perm", Dims{0, 3, 1, 2}}});
}

/// The instance norm of maps [n, groups, c / groups * h * w]: ONNX has GroupNormalization from
/// opset 18 on.
void emit_group_norm(const OnnxLayer& layer) {
  const config::Node attributes = layer.attributes();
  const Shape shape = layer.input_shape();
  const config::Node* const written = attributes.find("groups");  // an instance norm has none
  const std::int64_t groups = written != nullptr ? written->integer : shape.c();
  const auto count = static_cast<std::size_t>(groups);
  const std::string parts =
      layer.add("Reshape", {layer.input(), layer.integers("groups", {0, groups, -1})});
  const std::string normal =
      layer.add("InstanceNormalization",
                {parts, layer.constant("ones", {groups}, OnnxLayer::Floats(count, 1)),
                 layer.constant("zeros", {groups}, OnnxLayer::Floats(count, 0))},
                {{"epsilon", real(attributes, "eps")}});
  Dims whole = {0, shape.c()};
  if (shape.rank() == 4) whole.insert(whole.end(), {shape.h(), shape.w()});
  put_affine(layer, layer.add("Reshape", {normal, layer.integers("whole", std::move(whole))}));
}

/// Over the pixels of a channel it is x / (k + alpha * mean square)^beta, where the mean counts
/// what is outside as zeros.
void emit_lrn(const OnnxLayer& layer) {
  const config::Node attributes = layer.attributes();
  const std::int64_t size = attributes.find("size")->integer, reach = (size - 1) / 2;
  if (attributes.find("across")->boolean) {
    return layer.apply("LRN", {{"size", size},
                               {"alpha", real(attributes, "alpha")},
                               {"beta", real(attributes, "beta")},
                               {"bias", real(attributes, "k")}});
  }
  const auto number = [&](const char* key) {
    return layer.constant(key, {}, {real(attributes, key)});
  };
  const std::string mean =
      layer.add("AveragePool", {layer.add("Mul", {layer.input(), layer.input()})},
                {{"kernel_shape", Dims{size, size}},
                 {"pads", Dims{reach, reach, reach, reach}},
                 {"count_include_pad", std::int64_t{1}}});
  const std::string scaled = layer.add("Mul", {mean, number("alpha")});
  const std::string sum = layer.add("Add", {scaled, number("k")});
  layer.put("Div", {layer.input(), layer.add("Pow", {sum, number("beta")})});
}

void emit_scale(const OnnxLayer& layer) { put_affine(layer, layer.input()); }

void emit_prelu(const OnnxLayer& layer) {
  layer.put("PRelu", {layer.input(), layer.per_channel("alpha", *layer.weight("alpha"))});
}

void emit_recurrent(const OnnxLayer& layer) {
  const auto& op = layer.op<RecurrentOp>();
  const Attributes& recurrent = op.values();
  if (recurrent.mask) {
    throw Inexpressible(
        "leaves out steps by a mask, and ONNX's recurrent layers compute every step");
  }
  const std::int64_t units = recurrent.units, width = op.gates() * units;
  const OnnxLayer::Inputs inputs = {
      steps_first(layer),
      layer.constant("weight", {1, width, layer.input_shape().c()},
                     reordered(*layer.weight("weight"), recurrent.cell)),
      layer.constant("recurrent", {1, width, units},
                     reordered(*layer.weight("recurrent"), recurrent.cell)),
      layer.constant("bias", {1, 2 * width},
                     biases(layer, recurrent.cell, op.resets(Attributes::Reset::after)))};
  const std::string type = recurrent.cell == Attributes::Cell::lstm  ? "LSTM"
                           : recurrent.cell == Attributes::Cell::gru ? "GRU"
                                                                     : "RNN";
  if (recurrent.return_sequences) {
    return put_states(layer, layer.add(type, inputs, attributes_of(recurrent)),
                      recurrent.backwards && !recurrent.in_order);
  }
  const std::string last = layer.add(type, inputs, attributes_of(recurrent), 1);
  layer.put("Squeeze", {last, layer.integers("one_direction", {0})});
}

}  // namespace trainyard
