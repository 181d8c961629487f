#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "export/onnx_layer.h"
#include "ops/pool.h"
#include "ops/shapes.h"

namespace trainyard {
namespace {

using Dims = OnnxLayer::Dims;

Dims pads_of(const Margins& margins) {
  return {margins.top, margins.left, margins.bottom, margins.right};
}

/// The extents without the batch.
Dims extents_of(const Shape& shape) {
  Dims extents;
  for (int axis = 1; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
  return extents;
}

/// The input with rows and columns of this value around it.
std::string padded(const OnnxLayer& layer, const Margins& margins, float value,
                   std::int64_t front = 0, std::int64_t back = 0) {
  return layer.add("Pad", {layer.input(),
                           layer.integers("pads", {0, front, margins.top, margins.left, 0, back,
                                                   margins.bottom, margins.right}),
                           layer.constant("value", {}, {value})});
}

/// The margins of pad and crop.
Margins margins_in(const config::Node& attributes) {
  const auto pixels = [&](const char* key) { return attributes.find(key)->integer; };
  return {pixels("top"), pixels("left"), pixels("bottom"), pixels("right")};
}

/// The axis of this name in a network file.
std::int64_t axis_of(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"batch", "channels", "height",
                                                             "width"};
  return std::ranges::find(kNames, name) - kNames.begin();
}

/// The part of the input that begins at `first`, c, h, w, and has the output's extents; with
/// `steps` every so many of its elements.
void put_part(const OnnxLayer& layer, Dims first, const Dims& steps = {}) {
  Dims end = extents_of(layer.output_shape()), axes;
  first.resize(end.size());
  for (std::size_t i = 0; i < end.size(); ++i) {
    end[i] = first[i] + (steps.empty() ? end[i] : (end[i] - 1) * steps[i] + 1);
    axes.push_back(static_cast<std::int64_t>(i) + 1);
  }
  std::vector<std::string> inputs{layer.input(), layer.integers("first", first),
                                  layer.integers("end", end), layer.integers("axes", axes)};
  if (!steps.empty()) inputs.push_back(layer.integers("steps", steps));
  layer.put("Slice", std::move(inputs));
}

}  // namespace

/// All padding is explicit. What ceil mode adds counts in no mean, which ONNX's ceil_mode leaves
/// open: if other padding counts, that becomes pixels first.
void emit_pool(const OnnxLayer& layer) {
  const auto& op = layer.op<PoolOp>();
  const PoolAttributes& pool = op.values();
  const PoolOp::Geometry window = op.geometry(layer.input_shape());
  const bool average = pool.kind == PoolAttributes::Kind::average;
  const bool mixed = average && pool.count_pad && window.margins != window.counted;
  std::string input = layer.input();
  Margins margins = window.margins;
  if (mixed) {
    input = padded(layer, window.counted, 0);
    margins = {.bottom = margins.bottom - window.counted.bottom,
               .right = margins.right - window.counted.right};
  }
  OnnxAttributes attributes = {{"kernel_shape", Dims{window.size.h, window.size.w}},
                               {"strides", Dims{window.stride.h, window.stride.w}},
                               {"pads", pads_of(margins)}};
  if (average) {
    attributes.emplace_back("count_include_pad", std::int64_t{pool.count_pad && !mixed});
  }
  layer.put(average ? "AveragePool" : "MaxPool", {input}, std::move(attributes));
}

void emit_global_pool(const OnnxLayer& layer) {
  const bool average = layer.op<PoolOp>().values().kind == PoolAttributes::Kind::average;
  const std::string maps =
      layer.add(average ? "GlobalAveragePool" : "GlobalMaxPool", {layer.input()});
  layer.put("Flatten", {maps}, {{"axis", std::int64_t{1}}});
}

void emit_pool_steps(const OnnxLayer& layer) {
  const config::Node attributes = layer.attributes();
  if (attributes.find("mask") != nullptr) {
    throw Inexpressible("leaves out steps by a mask, and ONNX's pooling counts every step");
  }
  const std::string& kind = attributes.find("kind")->text;
  if (kind != "last") {
    return layer.apply(kind == "average" ? "ReduceMean" : "ReduceMax",
                       {{"axes", Dims{2, 3}}, {"keepdims", std::int64_t{0}}});
  }
  const std::string last = layer.add(
      "Slice", {layer.input(), layer.integers("last", {layer.input_shape().w() - 1}),
                layer.integers("end", {layer.input_shape().w()}), layer.integers("axis", {3})});
  layer.put("Flatten", {last}, {{"axis", std::int64_t{1}}});
}

void emit_upsample(const OnnxLayer& layer) {
  const bool nearest = layer.attributes().find("mode")->text == "nearest";
  const Shape in = layer.input_shape(), out = layer.output_shape();
  const std::string scales = layer.constant(
      "scales", {4},
      {1, 1, static_cast<float>(out.h() / in.h()), static_cast<float>(out.w() / in.w())});
  OnnxAttributes attributes = {
      {"mode", std::string(nearest ? "nearest" : "linear")},
      {"coordinate_transformation_mode", std::string(nearest ? "asymmetric" : "half_pixel")}};
  if (nearest) attributes.emplace_back("nearest_mode", std::string("floor"));
  layer.put("Resize", {layer.input(), "", scales}, std::move(attributes));
}

void emit_pad(const OnnxLayer& layer) {
  const ShiftAttributes& pad = layer.op<ShiftOp>().values();
  layer.pass(padded(layer, pad.margins, static_cast<float>(pad.value), pad.front, pad.back));
}

void emit_crop(const OnnxLayer& layer) {
  const Margins margins = margins_in(layer.attributes());
  put_part(layer, {0, margins.top, margins.left});
}

void emit_slice(const OnnxLayer& layer) {
  const config::Node attributes = layer.attributes();
  const auto axis = static_cast<std::size_t>(axis_of(attributes.find("axis")->text));
  const std::int64_t begin = attributes.find("begin")->integer;
  Dims first = {0, 0, 0};
  first[axis - 1] = begin < 0 ? layer.input_shape()[static_cast<int>(axis)] + begin : begin;
  const std::int64_t step = layer.op<ShiftOp>().values().step;
  Dims steps;
  if (step > 1) {
    steps.assign(extents_of(layer.output_shape()).size(), 1);
    steps[axis - 1] = step;
  }
  put_part(layer, std::move(first), steps);
}

void emit_permute(const OnnxLayer& layer) {
  const config::Node attributes = layer.attributes();
  Dims order = {0};
  for (const config::Node& axis : attributes.find("axes")->items)
    order.push_back(static_cast<std::int64_t>(std::string_view("nchw").find(axis.text)));
  layer.apply("Transpose", {{"perm", std::move(order)}});
}

/// An extent of 0 is the input's: the batch.
void emit_reshape(const OnnxLayer& layer) {
  if (layer.input_shape() == layer.output_shape()) return layer.pass(layer.input());
  Dims extents = extents_of(layer.output_shape());
  extents.insert(extents.begin(), 0);
  layer.put("Reshape", {layer.input(), layer.integers("shape", std::move(extents))});
}

}  // namespace trainyard
