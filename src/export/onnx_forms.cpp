#include <numbers>
#include <string>

#include "export/onnx_layer.h"
#include "ops/activation.h"
#include "ops/pool.h"

namespace trainyard {
namespace {

/// What does nothing in evaluation.
void pass_on(const OnnxLayer& layer) { layer.pass(layer.input()); }

/// An op of ONNX with the same inputs and no attributes.
template <const char* type>
void same(const OnnxLayer& layer) {
  layer.apply(type);
}

/// An op of two inputs over more of them, from the first on.
void chain(const OnnxLayer& layer, const std::string& type, const OnnxLayer::Inputs& inputs) {
  std::string sum = inputs[0];
  for (std::size_t i = 1; i + 1 < inputs.size(); ++i) sum = layer.add(type, {sum, inputs[i]});
  layer.put(type, {sum, inputs.back()});
}

void emit_add(const OnnxLayer& layer) { chain(layer, "Add", layer.inputs()); }

/// Factors [n, c] of a map get its rank.
void emit_multiply(const OnnxLayer& layer) {
  OnnxLayer::Inputs inputs = layer.inputs();
  const int rank = layer.output_shape().rank();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (layer.input_shape(i).rank() == rank) continue;
    inputs[i] = layer.add("Unsqueeze", {inputs[i], layer.integers("axes", {2, 3})});
  }
  chain(layer, "Mul", inputs);
}

template <class Function>
const Function& function_of(const OnnxLayer& layer) {
  return layer.op<ActivationOp<Function>>().values();
}

void emit_relu6(const OnnxLayer& layer) {
  layer.put("Clip",
            {layer.input(), layer.constant("least", {}, {0}), layer.constant("most", {}, {6})});
}

void emit_scale_by(const OnnxLayer& layer) {
  const float factor = static_cast<float>(function_of<ScaleBy>(layer).factor);
  layer.put("Mul", {layer.input(), layer.constant("factor", {}, {factor})});
}

void emit_leaky_relu(const OnnxLayer& layer) {
  layer.apply("LeakyRelu", {{"alpha", static_cast<float>(function_of<LeakyRelu>(layer).slope)}});
}

void emit_elu(const OnnxLayer& layer) {
  layer.apply("Elu", {{"alpha", static_cast<float>(function_of<Elu>(layer).alpha)}});
}

void emit_selu(const OnnxLayer& layer) {
  layer.apply("Selu", {{"alpha", static_cast<float>(Selu::kAlpha)},
                       {"gamma", static_cast<float>(Selu::kScale)}});
}

/// x / 2 * (1 + erf(x / sqrt(2))): ONNX has Gelu from opset 20 on.
void emit_gelu(const OnnxLayer& layer) {
  const std::string root = layer.constant("root", {}, {std::numbers::sqrt2_v<float>});
  const std::string erf = layer.add("Erf", {layer.add("Div", {layer.input(), root})});
  const std::string below = layer.add("Add", {erf, layer.constant("one", {}, {1})});
  const std::string half = layer.add("Mul", {layer.input(), layer.constant("half", {}, {0.5F})});
  layer.put("Mul", {half, below});
}

void emit_swish(const OnnxLayer& layer) {
  layer.put("Mul", {layer.input(), layer.add("Sigmoid", {layer.input()})});
}

void emit_hard_sigmoid(const OnnxLayer& layer) {
  const auto slope = static_cast<float>(function_of<HardSigmoid>(layer).slope);
  layer.apply("HardSigmoid", {{"alpha", slope}, {"beta", 0.5F}});
}

/// x * tanh(softplus(x)): ONNX has Mish from opset 18 on.
void emit_mish(const OnnxLayer& layer) {
  const std::string factor = layer.add("Tanh", {layer.add("Softplus", {layer.input()})});
  layer.put("Mul", {layer.input(), factor});
}

/// As MaxPool and AveragePool, with padding that adds nothing. Throws Inexpressible for a p that is
/// no whole number.
void emit_lp_pool(const OnnxLayer& layer) {
  const auto& op = layer.op<PoolOp>();
  const auto p = static_cast<std::int64_t>(op.values().p);
  if (static_cast<double>(p) != op.values().p) {
    throw Inexpressible("has a p that is not a whole number, and ONNX's LpPool takes no other");
  }
  const PoolOp::Geometry window = op.geometry(layer.input_shape());
  const Margins& pads = window.margins;
  using Dims = OnnxLayer::Dims;
  layer.apply("LpPool", {{"p", p},
                         {"kernel_shape", Dims{window.size.h, window.size.w}},
                         {"strides", Dims{window.stride.h, window.stride.w}},
                         {"pads", Dims{pads.top, pads.left, pads.bottom, pads.right}}});
}

void emit_over_channels(const OnnxLayer& layer, const std::string& type) {
  layer.apply(type, {{"axis", std::int64_t{1}}});
}

constexpr char kRelu[] = "Relu", kHardSwish[] = "HardSwish", kSigmoid[] = "Sigmoid",
               kTanh[] = "Tanh", kSoftplus[] = "Softplus", kSoftsign[] = "Softsign",
               kMean[] = "Mean", kMax[] = "Max", kMin[] = "Min";

constexpr OnnxForm kForms[] = {
    {"conv", &emit_conv},
    {"conv_transpose", &emit_conv_transpose},
    {"dense", &emit_dense},
    {"embedding", &emit_embedding},
    {"lstm", &emit_recurrent},
    {"gru", &emit_recurrent},
    {"simple_rnn", &emit_recurrent},
    {"bn", &emit_bn},
    {"layer_norm", &emit_layer_norm},
    {"group_norm", &emit_group_norm},
    {"instance_norm", &emit_group_norm},
    {"lrn", &emit_lrn},
    {"scale", &emit_scale},
    {"max_pool", &emit_pool},
    {"avg_pool", &emit_pool},
    {"global_max_pool", &emit_global_pool},
    {"global_avg_pool", &emit_global_pool},
    {"lp_pool", &emit_lp_pool},
    {"pool_steps", &emit_pool_steps},
    {"upsample", &emit_upsample},
    {"pad", &emit_pad},
    {"crop", &emit_crop},
    {"slice", &emit_slice},
    {"permute", &emit_permute},
    {"reshape", &emit_reshape},
    {"flatten", &emit_reshape},
    {"one_hot", &emit_one_hot},
    {"dropout", &pass_on},
    {"spatial_dropout", &pass_on},
    {"drop_path", &pass_on},
    {"gaussian_noise", &pass_on},
    {"add", &emit_add},
    {"concat", [](const OnnxLayer& layer) { emit_over_channels(layer, "Concat"); }},
    {"multiply", &emit_multiply},
    {"average", &same<kMean>},
    {"maximum", &same<kMax>},
    {"minimum", &same<kMin>},
    {"softmax", [](const OnnxLayer& layer) { emit_over_channels(layer, "Softmax"); }},
    {"prelu", &emit_prelu},
    {"relu", &same<kRelu>},
    {"relu6", &emit_relu6},
    {"scale_by", &emit_scale_by},
    {"leaky_relu", &emit_leaky_relu},
    {"elu", &emit_elu},
    {"selu", &emit_selu},
    {"gelu", &emit_gelu},
    {"swish", &emit_swish},
    {"hard_swish", &same<kHardSwish>},
    {"sigmoid", &same<kSigmoid>},
    {"hard_sigmoid", &emit_hard_sigmoid},
    {"tanh", &same<kTanh>},
    {"softplus", &same<kSoftplus>},
    {"softsign", &same<kSoftsign>},
    {"mish", &emit_mish},
    {"identity", &pass_on},
};

}  // namespace

std::span<const OnnxForm> onnx_forms() { return kForms; }

}  // namespace trainyard
