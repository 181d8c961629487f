// ONNX models as data and as bytes; judges_test.cpp shows that they compute what networks do.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "base/hash.h"
#include "config/load.h"
#include "export/onnx_export.h"
#include "export/onnx_layer.h"
#include "graph/build.h"
#include "networks.h"

namespace trainyard::export_tests {
namespace {

config::Node network_of(const std::string& yaml) { return config::parse_yaml(yaml, "net.yaml"); }

OnnxModel model_of(const config::Node& network, const OnnxPreprocessing& preprocessing = {}) {
  const Graph graph = network_with_logits(network, 2);
  return onnx_model_of(graph, drawn_weights(graph), preprocessing);
}

std::vector<std::string> types_of(const OnnxModel& model) {
  std::vector<std::string> types;
  for (const OnnxNode& node : model.nodes) types.push_back(node.type);
  return types;
}

using Types = std::vector<std::string>;

TEST_CASE("every op of networks has exactly one form in ONNX, and no other op has") {
  std::multiset<std::string_view> forms, ops;
  for (const OnnxForm& form : onnx_forms()) forms.insert(form.op);
  for (const config::Kind<Op>& kind : op_kinds()) ops.insert(kind.name);
  CHECK(forms == ops);
}

TEST_CASE("the networks of these tests have every op") {
  std::set<std::string_view> used, ops;
  for (const TestNetwork& network : small_networks()) {
    CAPTURE(network.name);
    const Graph graph = build_graph(network.network, {.peel_activation = false});
    for (const Node& node : graph.nodes) used.insert(node.op->type());
  }
  for (const config::Kind<Op>& kind : op_kinds()) ops.insert(kind.name);
  CHECK(used == ops);
}

TEST_CASE("names are the layers', inputs and outputs have an open batch") {
  const OnnxModel model = model_of(network_of(
      "{input: [3, 8, 8], layers: [conv: [4, 3], relu, dropout: 0.5, dense: 5, softmax]}"));
  CHECK(types_of(model) == Types{"Conv", "Relu", "Flatten", "Gemm", "Softmax"});
  CHECK(model.nodes[0].name == "conv1");
  CHECK(model.nodes[0].inputs == Types{"input", "conv1.weight", "conv1.bias"});
  CHECK(model.nodes[2].inputs == Types{"relu1"});  // past the dropout
  CHECK(model.nodes[3].outputs == Types{"logits"});
  CHECK(model.nodes[4].outputs == Types{"output"});
  REQUIRE(model.inputs.size() == 1);
  CHECK(type_text(model.inputs[0]) == "float32 [batch, 3, 8, 8]");
  CHECK(type_text(model.outputs[0]) == "float32 [batch, 5]");
  CHECK(model.constants.at("conv1.weight").dims == std::vector<std::int64_t>{4, 3, 3, 3});
  const OnnxModel tokens =
      model_of(network_of("{input: {tokens: 6, vocabulary: 9}, layers: [embedding: 3, lstm: 4]}"));
  CHECK(tokens.inputs[0].name == "tokens");
  CHECK(type_text(tokens.inputs[0]) == "int64 [batch, 6]");
}

TEST_CASE("an output that no node writes, or that has two names, is a copy") {
  const OnnxModel noise = model_of(network_of("{input: [5], layers: [dense: 3, dropout: 0.5]}"));
  CHECK(types_of(noise) == Types{"Gemm", "Identity"});
  CHECK(noise.nodes[1].outputs == Types{"output"});
  Graph graph = network_with_logits(network_of("{input: [5], layers: [dense: 3]}"), 2);
  graph.outputs = {{"again", graph.output}, {"begin", graph.inputs[0]}};
  const OnnxModel model = onnx_model_of(graph, drawn_weights(graph));
  CHECK(types_of(model) == Types{"Gemm", "Identity", "Identity"});
  CHECK(model.nodes[1].inputs == Types{"output"});
  CHECK(model.nodes[2].inputs == Types{"input"});
}

TEST_CASE("an output of the network that is named as the last layer's gets a number") {
  const OnnxModel model = model_of(network_of(
      "{input: [5], layers: [{dense: 4, as: output}, relu, dense: 3], outputs: [output]}"));
  REQUIRE(model.outputs.size() == 2);
  CHECK(model.outputs[0].name == "output");
  CHECK(model.outputs[1].name == "output_2");
  CHECK(model.nodes[0].outputs == Types{"output_2"});
  CHECK(model.nodes[1].inputs == Types{"output_2"});
}

TEST_CASE("what ONNX cannot express is refused, every layer with its place") {
  const char* const yaml = R"(
input: {tokens: 6, vocabulary: 9}
layers:
  - {identity: , as: tokens}
  - {embedding: 3, as: vectors}
  - {lstm: {units: 4, mask: true, return_sequences: true}, from: [vectors, tokens], as: states}
  - {pool_steps: {kind: last, mask: true}, from: [states, tokens]}
)";
  CHECK_THROWS_WITH_AS(
      static_cast<void>(model_of(network_of(yaml))),
      "ONNX (opset 17) cannot express 2 layers of this network:\n"
      "  net.yaml:6:6: layer 'lstm1' (lstm) leaves out steps by a mask, and ONNX's recurrent "
      "layers "
      "compute every step\n"
      "  net.yaml:7:6: layer 'pool_steps1' (pool_steps) leaves out steps by a mask, and ONNX's "
      "pooling counts every step",
      Error);
}

TEST_CASE("batch norm is folded into the layer before it where only it reads that") {
  OnnxModel model = model_of(network_of(R"(
input: [3, 8, 8]
layers:
  - bn
  - conv: [4, 3]
  - bn
  - relu
  - {conv: [4, 1], as: twice}
  - bn
  - add: [[], [{identity: , from: twice}]]
  - dense: 5
  - bn
)"));
  CHECK(fold_batch_norms(model) == 2);
  CHECK(types_of(model) == Types{"BatchNormalization", "Conv", "Relu", "Conv", "BatchNormalization",
                                 "Add", "Flatten", "Gemm"});
  CHECK(model.nodes[1].inputs == Types{"bn1", "conv1.folded_weight", "conv1.folded_bias"});
  CHECK(model.nodes.back().outputs == Types{"output"});
  CHECK_FALSE(model.constants.contains("conv1.weight"));
  CHECK_FALSE(model.constants.contains("bn2.running_mean"));
  CHECK(model.constants.contains("conv2.weight"));
}

TEST_CASE("a folded weight is w * gamma / sqrt(var + eps), a bias (b - mean) * that + beta") {
  const Graph graph =
      network_with_logits(network_of("{input: [2], layers: [dense: 1, bn: {eps: 0.75}]}"), 2);
  const NamedWeights weights = {{"dense1.weight", {2, 3}}, {"dense1.bias", {5}},
                                {"bn1.gamma", {3}},        {"bn1.beta", {7}},
                                {"bn1.running_mean", {1}}, {"bn1.running_var", {0.25F}}};
  OnnxModel model = onnx_model_of(graph, weights);
  REQUIRE(fold_batch_norms(model) == 1);
  CHECK(model.constants.at("dense1.folded_weight") == OnnxTensor{{1, 2}, std::vector<float>{6, 9}});
  CHECK(model.constants.at("dense1.folded_bias") == OnnxTensor{{1}, std::vector<float>{19}});
}

TEST_CASE("a model that is too large for a file is refused") {
  const OnnxModel model = model_of(network_of("{input: [64], layers: [dense: 64]}"));
  const std::size_t bytes = encode_onnx(model).size();
  CHECK_NOTHROW(static_cast<void>(encode_onnx(model, bytes)));
  CHECK_THROWS_WITH_AS(static_cast<void>(encode_onnx(model, 1000)),
                       ("the network takes " + std::to_string(bytes) +
                        " bytes as an ONNX file, which may hold 1000 bytes; a safetensors file has "
                        "no such limit")
                           .c_str(),
                       Error);
}

TEST_CASE("metadata are the last entries of the file") {
  OnnxModel model = model_of(network_of("{input: [3], layers: [dense: 2]}"));
  const std::string before = encode_onnx(model);
  model.metadata = {{"a", "b"}, {"c", ""}};
  CHECK(encode_onnx(model) == before +
                                  "\x72\x06\x0a\x01"
                                  "a\x12\x01"
                                  "b\x72\x05\x0a\x01"
                                  "c\x12" +
                                  std::string(1, '\0'));
}

TEST_CASE("preprocessing is nodes at the front, in the order of the run") {
  const std::vector<float> image(3 * 2 * 2, 4.0F), channels = {1, 2, 3};
  const auto values = [](PixelTransform::Kind kind, const std::vector<float>& of) {
    return PixelTransform{.kind = kind, .values = of.data(), .count = std::ssize(of)};
  };
  const OnnxModel model =
      model_of(network_of("{input: [3, 2, 2], layers: [dense: 5]}"),
               {.steps = {values(PixelTransform::Kind::subtract_image, image),
                          {.kind = PixelTransform::Kind::scale, .factor = 0.5F},
                          values(PixelTransform::Kind::subtract_channel, channels),
                          values(PixelTransform::Kind::divide_channel, channels),
                          {.kind = PixelTransform::Kind::subtract_mean},
                          {.kind = PixelTransform::Kind::divide_deviation}},
                .whitening = std::vector<float>(12 * 12, 1.0F)});
  CHECK(types_of(model) == Types{"Sub", "Mul", "Sub", "Div", "ReduceMean", "Sub", "ReduceMean",
                                 "Sub", "Mul", "ReduceMean", "Sqrt", "Add", "Div", "Flatten",
                                 "MatMul", "Reshape", "Flatten", "Gemm"});
  CHECK(model.nodes[0].inputs[0] == "input");
  const OnnxTensor& by_channel = model.constants.at(model.nodes[2].inputs[1]);
  CHECK(by_channel == OnnxTensor{{3, 1, 1}, channels});
  CHECK(model.nodes[16].inputs[0] == model.nodes[15].outputs[0]);
}

TEST_CASE("weights that a network needs must be there, in its shapes") {
  const Graph graph = network_with_logits(network_of("{input: [3], layers: [dense: 2, bn]}"), 2);
  const std::vector<float> six(6), two(2);
  const std::vector<std::int32_t> whole(2);
  const std::vector<NamedTensor> tensors = {
      {"dense1.weight", StoredType::f32, {3, 2}, std::as_bytes(std::span(six))},
      {"dense1.bias", StoredType::i32, {2}, std::as_bytes(std::span(whole))},
      {"bn1.gamma", StoredType::f32, {2}, std::as_bytes(std::span(two))},
      {"bn1.beta", StoredType::f32, {2}, std::as_bytes(std::span(two))},
      {"bn1.running_mean", StoredType::f32, {2}, std::as_bytes(std::span(two))}};
  const SafetensorsImage image = encode_safetensors(tensors);
  std::vector<std::byte> bytes;
  for (const auto& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read_named_weights(SafetensorsFile::parse(bytes, "w"), "w", graph)),
      "w does not fit the model:\n"
      "  dense1.weight: has shape [3, 2], expected [2, 3]\n"
      "  dense1.bias: has type I32, expected floats\n"
      "  bn1.running_var: missing, expected [2]",
      Error);
}

/// Hashes in tests/export/judged.txt, "NAME HASH", and in tests/ops/*.yaml.
std::map<std::string, std::string> judged_hashes() {
  std::ifstream file(TY_SOURCE_DIR "/tests/export/judged.txt");
  std::map<std::string, std::string> hashes;
  std::string name, hash;
  while (file >> name >> hash) hashes[name] = hash;
  for (const TestNetwork& network : small_networks()) {
    hashes[network.name] = network.judged.front();
    hashes[network.name + "_folded"] = network.judged.back();
  }
  return hashes;
}

// The judges of judges_test.cpp are not installed everywhere, so their verdict is kept: as long as
// a model's bytes are those that they accepted, it computes what its network does.
TEST_CASE("models have the bytes that onnxruntime and OpenCV have judged") {
  std::map<std::string, std::string> found;
  for (const TestNetwork& network : all_networks()) {
    CAPTURE(network.name);
    found[network.name] = hash128_hex(encode_onnx(model_of(network, false)));
    found[network.name + "_folded"] = hash128_hex(encode_onnx(model_of(network, true)));
  }
  std::string text;
  for (const auto& [name, hash] : found) text += name + " " + hash + "\n";
  INFO(
      "if the models should change: run the test export_judges, then store as judged.txt, or as "
      "'judged' in tests/ops/*.yaml\n",
      text);
  CHECK(found == judged_hashes());
}

}  // namespace
}  // namespace trainyard::export_tests
