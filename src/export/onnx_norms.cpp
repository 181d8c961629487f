#include <utility>

#include "export/onnx_layer.h"
#include "ops/bn.h"

namespace trainyard {
namespace {

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

}  // namespace

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

}  // namespace trainyard
