#include "export/onnx_model.h"

#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "formats/protobuf.h"

namespace trainyard {
namespace {

// Numbers of fields and enums are onnx.proto's.
constexpr std::int64_t kFloat = 1, kInt64 = 7;  // DataType
constexpr std::int64_t kIrVersion = 8;
constexpr const char* kBatch = "batch";

template <class T>
std::string_view raw_bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

ProtobufMessage encode(const std::string& name, const OnnxTensor& tensor) {
  ProtobufMessage message;
  for (const std::int64_t dim : tensor.dims) message.integer(1, dim);
  const bool floats = std::holds_alternative<std::vector<float>>(tensor.values);
  message.integer(2, floats ? kFloat : kInt64);
  message.text(8, name);
  message.text(9, std::visit([](const auto& values) { return raw_bytes(values); }, tensor.values));
  return message;
}

// The field of an AttributeProto that a value goes to; a list goes to the one 5 further. The
// attribute's type is the number of its field, less 1.
std::uint32_t put(ProtobufMessage& message, float value, std::uint32_t further = 0) {
  message.real(2 + further, value);
  return 2 + further;
}
std::uint32_t put(ProtobufMessage& message, std::int64_t value, std::uint32_t further = 0) {
  message.integer(3 + further, value);
  return 3 + further;
}
std::uint32_t put(ProtobufMessage& message, const std::string& value, std::uint32_t further = 0) {
  message.text(4 + further, value);
  return 4 + further;
}
/// At least one value.
template <class T>
std::uint32_t put(ProtobufMessage& message, const std::vector<T>& values) {
  std::uint32_t field = 0;
  for (const T& value : values) field = put(message, value, 5);
  return field;
}

ProtobufMessage encode(const std::string& name, const OnnxAttribute& attribute) {
  ProtobufMessage message;
  message.text(1, name);
  const std::uint32_t field =
      std::visit([&](const auto& value) { return put(message, value); }, attribute);
  message.integer(20, field - 1);
  return message;
}

ProtobufMessage encode(const OnnxNode& node) {
  ProtobufMessage message;
  for (const std::string& input : node.inputs) message.text(1, input);
  for (const std::string& output : node.outputs) message.text(2, output);
  message.text(3, node.name);
  message.text(4, node.type);
  for (const auto& [name, value] : node.attributes) message.message(5, encode(name, value));
  return message;
}

/// A ValueInfoProto, down to the dimensions of its TypeProto.
ProtobufMessage encode(const OnnxValue& value) {
  ProtobufMessage shape, tensor, type, message;
  const auto add_dim = [&](const auto& put_dim) {
    ProtobufMessage dim;
    put_dim(dim);
    shape.message(1, dim);
  };
  add_dim([](ProtobufMessage& dim) { dim.text(2, kBatch); });
  for (const std::int64_t extent : value.dims) {
    add_dim([&](ProtobufMessage& dim) { dim.integer(1, extent); });
  }
  tensor.integer(1, value.integers ? kInt64 : kFloat);
  tensor.message(2, shape);
  type.message(1, tensor);
  message.text(1, value.name);
  message.message(2, type);
  return message;
}

ProtobufMessage encode_graph(const OnnxModel& model) {
  ProtobufMessage message;
  for (const OnnxNode& node : model.nodes) message.message(1, encode(node));
  message.text(2, model.name);
  for (const auto& [name, tensor] : model.constants) message.message(5, encode(name, tensor));
  for (const OnnxValue& input : model.inputs) message.message(11, encode(input));
  for (const OnnxValue& output : model.outputs) message.message(12, encode(output));
  return message;
}

}  // namespace

std::string encode_onnx(const OnnxModel& model, std::size_t most) {
  ProtobufMessage opset, message;
  opset.text(1, "");  // the domain of ONNX's own ops
  opset.integer(2, kOnnxOpset);
  message.integer(1, kIrVersion);
  message.text(2, "Trainyard");
  message.message(7, encode_graph(model));
  message.message(8, opset);
  for (const auto& [key, value] : model.metadata) {
    ProtobufMessage entry;
    entry.text(1, key);
    entry.text(2, value);
    message.message(14, entry);
  }
  if (message.bytes().size() <= most) return message.bytes();
  throw config_error("the network takes " + memory_text(message.bytes().size()) +
                     " as an ONNX file, which may hold " + memory_text(most) +
                     "; a safetensors file has no such limit");
}

std::string type_text(const OnnxValue& value) {
  std::string text = std::string(value.integers ? "int64" : "float32") + " [" + kBatch;
  for (const std::int64_t extent : value.dims) text += ", " + std::to_string(extent);
  return text + "]";
}

}  // namespace trainyard
