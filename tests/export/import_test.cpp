// Weights of other programs, and our own out and in again.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "config/load.h"
#include "evaluated.h"
#include "export/export_run.h"
#include "export/named_weights.h"
#include "graph/build.h"

namespace trainyard::export_tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(const SafetensorsImage& image) {
  std::vector<std::byte> bytes;
  for (const auto& part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

Graph graph_of(const std::string& yaml) {
  return build_graph(config::parse_yaml(yaml, "net.yaml"), {.peel_activation = false});
}

/// A file with this text, which is deleted with it.
class TextFile {
 public:
  TextFile(const std::string& name, const std::string& text)
      : path_(fs::temp_directory_path() / name) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { fs::remove(path_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

NameMap map_of(const std::string& yaml) {
  const TextFile file("trainyard-names.yaml", yaml);
  return read_name_map(file.path());
}

std::string error_of(const auto& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("the weights of every shipped network go out and in with the same bytes") {
  for (const TestNetwork& test : shipped_networks()) {
    CAPTURE(test.name);
    const Graph graph = network_with_logits(test.network, 1);
    const NamedWeights weights = drawn_weights(graph);
    std::vector<NamedTensor> tensors;
    for (const WeightSpec& spec : weight_specs(graph)) {
      std::vector<std::int64_t> dims;
      for (int axis = 0; axis < spec.shape.rank(); ++axis) dims.push_back(spec.shape[axis]);
      tensors.push_back(
          {spec.name, StoredType::f32, dims, std::as_bytes(std::span(weights.at(spec.name)))});
    }
    const std::vector<std::byte> out = bytes_of(weights_image(tensors));
    const SafetensorsFile file = SafetensorsFile::parse(out, "out");
    CHECK(read_named_weights(file, "out", graph) == weights);
    const ImportedWeights imported = import_weights(file, "out", graph, {});
    CHECK(imported.missing.empty());
    CHECK(imported.unused.empty());
    CHECK(bytes_of(weights_image(imported.tensors)) == out);
  }
}

struct TorchNetwork {
  const char *name, *yaml, *names;
};

constexpr TorchNetwork kTorchNetworks[] = {
    {"images", R"(
profile: torch
input: [3, 4, 3]
layers:
  - conv: {filters: 4, kernel: 3, pad: 1, bias: false}
  - bn
  - prelu
  - conv_transpose: {filters: 5, kernel: 3, stride: 2, pad: 1}
  - group_norm: {groups: 5}
  - dense: 6)",
     R"(
conv1: images.stem.0
bn1: images.stem.1
prelu1: images.stem.2
conv_transpose1: images.up
group_norm1: images.norm
dense1: images.fc)"},
    {"steps", R"(
profile: torch
input: {steps: 6, features: 3}
layers: [lstm: 5, dense: 4])",
     R"(
lstm1: steps.rnn
dense1.weight: steps.head.weight
dense1.bias: steps.head.bias)"},
};

TEST_CASE("PyTorch's weights give PyTorch's logits") {
  const std::string path = TY_SOURCE_DIR "/tests/export/torch_weights.safetensors";
  const SafetensorsFile file = SafetensorsFile::open(path);
  const auto floats = [&](const std::string& name) {
    const NamedTensor& tensor = file.at(name);
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
  };
  for (const TorchNetwork& test : kTorchNetworks) {
    CAPTURE(test.name);
    const config::Node network = config::parse_yaml(test.yaml, "net.yaml");
    const Graph graph = network_with_logits(network, 2);
    const ImportedWeights imported = import_weights(file, path, graph, map_of(test.names));
    CHECK(imported.missing.empty());
    const SafetensorsFile ours =
        SafetensorsFile::parse(bytes_of(weights_image(imported.tensors)), "ours");
    const std::string name = test.name;
    const Evaluated evaluated =
        evaluate(network, read_named_weights(ours, "ours", graph), 2, floats(name + ".input"));
    const std::vector<float> expected = floats(name + ".logits");
    REQUIRE(evaluated.logits.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(std::abs(evaluated.logits[i] - expected[i]) < 1e-5);
    }
  }
}

TEST_CASE("torchvision's names of ResNet-50 are a layer of it each") {
  const Graph graph = build_graph(
      [] {
        for (TestNetwork& test : shipped_networks()) {
          if (test.name == "resnet50") return test.network;
        }
        return config::Node();
      }(),
      {});
  const NameMap map = read_name_map(TY_SOURCE_DIR "/models/names/torchvision_resnet50.yaml");
  CHECK(map.size() == 107);
  std::vector<std::string> layers;
  for (const Node& node : graph.nodes) {
    if (!own_parameters(node).empty()) layers.push_back(node.path);
  }
  std::vector<std::string> named;
  for (const NameMapEntry& entry : map) named.push_back(entry.ours);
  CHECK(named == layers);
}

TEST_CASE("what does not fit is named with both sides") {
  const Graph graph = graph_of("{input: [3, 8, 8], layers: [conv: [4, 3], bn, dense: 2]}");
  const std::vector<float> values(4 * 3 * 9);
  const std::vector<std::int32_t> whole(4);
  const auto part = [&](std::size_t count) {
    return std::as_bytes(std::span(values).first(count));
  };
  const std::vector<NamedTensor> tensors = {
      {"features.0.weight", StoredType::f32, {3, 3, 3, 4}, part(108)},
      {"features.0.bias", StoredType::i32, {4}, std::as_bytes(std::span(whole))},
      {"features.1.weight", StoredType::f32, {4}, part(4)},
      {"features.0.num_batches_tracked", StoredType::f32, {}, part(1)}};
  const SafetensorsFile file = SafetensorsFile::parse(bytes_of(encode_safetensors(tensors)), "w");
  const auto import_by = [&](const std::string& names) {
    return import_weights(file, "w", graph, map_of(names));
  };
  const std::string shapes = error_of([&] { (void)import_by("conv1: features.0"); });
  CHECK(
      shapes ==
      "w does not fit the model:\n"
      "  the network's conv1.weight is [4, 3, 3, 3], the file's features.0.weight is [3, 3, 3, 4]\n"
      "  the file's features.0.bias has type I32, expected floats");
  const std::string names =
      error_of([&] { (void)import_by("conv2: features.0\nbn1.gamma: features.1.weigth"); });
  CHECK(names.find("names.yaml:1:1: the network has no 'conv2'; did you mean 'conv1'?") !=
        std::string::npos);
  CHECK(names.find("names.yaml:2:1: the file has no 'features.1.weigth'; did you mean "
                   "'features.1.weight'?") != std::string::npos);
  const ImportedWeights some = import_by("bn1: features.1");
  REQUIRE(some.tensors.size() == 1);
  CHECK(some.tensors[0].name == "bn1.gamma");
  CHECK(text_of(some, 2) ==
        "1 of 8 tensors of the network\n"
        "  not in the file 7: conv1.weight, conv1.bias and 5 more\n"
        "  of the file, not used 3: features.0.bias, features.0.weight and 1 more");
}

TEST_CASE("a gru takes PyTorch's biases one by one if it has two, and else their sum") {
  const std::vector<float> matrix = {1, 2, 3}, first = {4, 5, 6}, second = {10, 20, 30};
  const auto bytes = [](const std::vector<float>& values) {
    return std::as_bytes(std::span(values));
  };
  const std::vector<NamedTensor> tensors = {
      {"rnn.weight_ih_l0", StoredType::f32, {3, 1}, bytes(matrix)},
      {"rnn.weight_hh_l0", StoredType::f32, {3, 1}, bytes(second)},
      {"rnn.bias_ih_l0", StoredType::f32, {3}, bytes(first)},
      {"rnn.bias_hh_l0", StoredType::f32, {3}, bytes(second)}};
  const SafetensorsFile file = SafetensorsFile::parse(bytes_of(encode_safetensors(tensors)), "w");
  const auto table_of = [&](const std::string& reset) {
    const Graph graph = graph_of(
        "{input: {steps: 2, features: 1}, layers: [gru: {units: 1, reset: " + reset + "}]}");
    const ImportedWeights imported = import_weights(file, "w", graph, map_of("gru1: rnn"));
    const SafetensorsFile ours =
        SafetensorsFile::parse(bytes_of(weights_image(imported.tensors)), "ours");
    return read_named_weights(ours, "ours", graph);
  };
  const NamedWeights after = table_of("after"), before = table_of("before");
  CHECK(after.at("gru1.weight") == matrix);
  CHECK(after.at("gru1.recurrent") == second);
  CHECK(after.at("gru1.bias") == first);
  CHECK(after.at("gru1.recurrent_bias") == second);
  CHECK(before.at("gru1.bias") == std::vector<float>{14, 25, 36});
}

TEST_CASE("tensors that are given as a list are added") {
  const Graph graph = graph_of("{input: [2], layers: [dense: {units: 1}]}");
  const std::vector<float> a = {1, 2}, b = {10, 20}, c = {5};
  const std::vector<NamedTensor> tensors = {
      {"a", StoredType::f32, {1, 2}, std::as_bytes(std::span(a))},
      {"b", StoredType::f32, {1, 2}, std::as_bytes(std::span(b))},
      {"c", StoredType::f32, {1}, std::as_bytes(std::span(c))}};
  const SafetensorsFile file = SafetensorsFile::parse(bytes_of(encode_safetensors(tensors)), "w");
  const ImportedWeights imported =
      import_weights(file, "w", graph, map_of("dense1.weight: [a, b]\ndense1.bias: c"));
  const SafetensorsFile ours =
      SafetensorsFile::parse(bytes_of(weights_image(imported.tensors)), "ours");
  const NamedWeights table = read_named_weights(ours, "ours", graph);
  CHECK(table.at("dense1.weight") == std::vector<float>{11, 22});
  CHECK(table.at("dense1.bias") == std::vector<float>{5});
}

TEST_CASE("a map is YAML or lines of names, and every error of it has its place") {
  const TextFile lines("trainyard-names.txt",
                       "# ours theirs\n\nconv1 stem.0 # first\nlstm1.bias\ta  b\n");
  const NameMap map = read_name_map(lines.path());
  REQUIRE(map.size() == 2);
  CHECK(map[0].ours == "conv1");
  CHECK(map[0].theirs == std::vector<std::string>{"stem.0"});
  CHECK(map[0].where.line == 3);
  CHECK(map[1].theirs == std::vector<std::string>{"a", "b"});
  const TextFile bad("trainyard-names.txt2", "conv1 a\nconv1 b\nbn1\n");
  const std::string errors = error_of([&] { (void)read_name_map(bad.path()); });
  CHECK(errors.find("names.txt2:3:1: expected 'OURS THEIRS', found 'bn1' alone") !=
        std::string::npos);
  CHECK(errors.find("names.txt2:2:1: 'conv1' has a name already") != std::string::npos);
  const std::string yaml = error_of([&] { (void)map_of("conv1: {a: b}\nbn1: [x, [y]]\n"); });
  CHECK(yaml.find("names.yaml:1:8: conv1: expected a name or a list of names, found a map") !=
        std::string::npos);
  CHECK(yaml.find("names.yaml:2:10: expected a name, found a list") != std::string::npos);
  CHECK(error_of([&] { (void)map_of("- a\n"); }).find("expected a map of names, found a list") !=
        std::string::npos);
}

}  // namespace
}  // namespace trainyard::export_tests
