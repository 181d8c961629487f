// An ONNX model as data, and its bytes (onnx.proto of ONNX 1.12;
// https://onnx.ai/onnx/repo-docs/IR.html).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trainyard {

inline constexpr std::int64_t kOnnxOpset = 17;

/// A constant: parameters, and shapes that ops read.
struct OnnxTensor {
  std::vector<std::int64_t> dims;
  std::variant<std::vector<float>, std::vector<std::int64_t>> values;

  bool operator==(const OnnxTensor&) const = default;
};

using OnnxAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                   std::vector<float>, std::vector<std::string>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

struct OnnxNode {
  std::string type;                  // "Conv"
  std::string name;                  // the path of its layer
  std::vector<std::string> inputs;   // "": left out
  std::vector<std::string> outputs;  // the same
  OnnxAttributes attributes;
};

/// An input or output; the first of its dims is the batch, which is open.
struct OnnxValue {
  std::string name;
  bool integers = false;           // i64, else f32
  std::vector<std::int64_t> dims;  // without the batch
};

struct OnnxModel {
  std::string name;  // name of the graph
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> constants;
  std::vector<OnnxValue> inputs, outputs;
  std::map<std::string, std::string> metadata;  // the file's metadata_props
};

/// The largest message that readers of protocol buffers take.
inline constexpr std::size_t kMostOnnxBytes = (std::size_t{1} << 31) - 1;

/// The file's bytes: IR version 8, opset kOnnxOpset. Throws Error{config} if they are more than
/// `most`.
[[nodiscard]] std::string encode_onnx(const OnnxModel& model, std::size_t most = kMostOnnxBytes);

/// "float32 [batch, 3, 32, 32]".
[[nodiscard]] std::string type_text(const OnnxValue& value);

}  // namespace trainyard
