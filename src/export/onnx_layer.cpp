#include "export/onnx_layer.h"

#include <utility>

#include "base/error.h"
#include "config/load.h"

namespace trainyard {

std::string OnnxNames::fresh(const std::string& wished) {
  std::string name = wished;
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = wished + "_" + std::to_string(number);
  }
  return name;
}

config::Node OnnxLayer::attributes() const {
  return config::parse_yaml(node_.op->attributes(), node_.path);
}

Shape OnnxLayer::input_shape(std::size_t index) const {
  return context_.network.values[node_.inputs[index]].shape;
}

Shape OnnxLayer::output_shape() const { return context_.network.values[node_.outputs[0]].shape; }

std::string OnnxLayer::input(std::size_t index) const {
  return context_.values[node_.inputs[index]];
}

OnnxLayer::Inputs OnnxLayer::inputs() const {
  Inputs names;
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) names.push_back(input(i));
  return names;
}

const std::string& OnnxLayer::owner() const {
  return node_.parameters_of.empty() ? node_.path : node_.parameters_of;
}

const OnnxLayer::Floats* OnnxLayer::weight(std::string_view name) const {
  const auto in = [&](const std::string& path) -> const Floats* {
    const auto found = context_.weights.find(path + "." + std::string(name));
    return found == context_.weights.end() ? nullptr : &found->second;
  };
  const Floats* const own = in(node_.path);  // running statistics are never shared
  return own != nullptr ? own : in(owner());
}

OnnxLayer::Floats OnnxLayer::weight_or(std::string_view name, std::int64_t count,
                                       float otherwise) const {
  const Floats* const found = weight(name);
  return found != nullptr ? *found : Floats(static_cast<std::size_t>(count), otherwise);
}

std::string OnnxLayer::constant(const std::string& name, Dims dims, Floats values) const {
  OnnxTensor tensor{std::move(dims), std::move(values)};
  std::string known = owner() + "." + name;
  const auto found = context_.model.constants.find(known);
  if (found != context_.model.constants.end() && found->second == tensor) return known;
  known = context_.names.fresh(known);
  context_.model.constants[known] = std::move(tensor);
  return known;
}

std::string OnnxLayer::integers(const std::string& name, Dims values) const {
  const std::string fresh = context_.names.fresh(node_.path + "." + name);
  context_.model.constants[fresh] = {{std::ssize(values)}, std::move(values)};
  return fresh;
}

std::string OnnxLayer::parameter(std::string_view name, Dims dims) const {
  const Floats* const values = weight(name);
  TY_CHECK(values != nullptr, node_.path + " has no " + std::string(name));
  return constant(std::string(name), std::move(dims), *values);
}

std::string OnnxLayer::per_channel(const std::string& name, Floats values) const {
  Dims dims = {std::ssize(values)};
  if (input_shape().rank() == 4) dims.insert(dims.end(), {1, 1});
  return constant(name, std::move(dims), std::move(values));
}

std::string OnnxLayer::add(const std::string& type, Inputs inputs, OnnxAttributes attributes,
                           std::size_t read) const {
  const std::string output = context_.names.fresh(node_.path + "/" + type);
  std::vector<std::string> outputs(read);
  outputs.push_back(output);
  context_.model.nodes.push_back({.type = type,
                                  .name = output,
                                  .inputs = std::move(inputs),
                                  .outputs = std::move(outputs),
                                  .attributes = std::move(attributes)});
  return output;
}

void OnnxLayer::put(const std::string& type, Inputs inputs, OnnxAttributes attributes) const {
  const ValueId value = node_.outputs[0];
  const auto output = context_.outputs.find(value);
  const std::string name =
      output == context_.outputs.end() ? context_.names.fresh(node_.path) : output->second;
  context_.values[value] = name;
  context_.model.nodes.push_back({.type = type,
                                  .name = node_.path,
                                  .inputs = std::move(inputs),
                                  .outputs = {name},
                                  .attributes = std::move(attributes)});
}

void OnnxLayer::apply(const std::string& type, OnnxAttributes attributes) const {
  put(type, inputs(), std::move(attributes));
}

void OnnxLayer::pass(const std::string& value) const {
  if (context_.outputs.contains(node_.outputs[0])) return put("Identity", {value});
  context_.values[node_.outputs[0]] = value;
}

}  // namespace trainyard
