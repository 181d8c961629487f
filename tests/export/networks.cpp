#include "networks.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/hash.h"
#include "base/philox.h"
#include "config/load.h"
#include "export/onnx_export.h"
#include "graph/build.h"
#include "graph/include.h"

namespace trainyard::export_tests {
namespace {

namespace fs = std::filesystem;

/// Name and network.
using Small = std::pair<const char*, const char*>;

constexpr Small kMaps[] = {
    {"conv", R"(
input: [4, 9, 7]
layers:
  - conv: {filters: 6, kernel: [3, 2], stride: [2, 1], pad: same_upper, groups: 2}
  - conv: {filters: 5, kernel: 3, stride: 2, pad: same_lower, bias: false}
  - conv: {filters: 4, kernel: 3, pad: [2, 1], dilation: 2}
  - flatten
  - dense: 5)"},
    {"conv_transpose", R"(
input: [4, 5, 3]
layers:
  - conv_transpose: {filters: 6, kernel: 3, stride: 2, pad: 1, output_pad: 1, groups: 2}
  - conv_transpose: {filters: 3, kernel: 2, stride: 3, pad: valid}
  - conv_transpose: {filters: 2, kernel: 4, stride: 2, pad: same_upper, bias: false}
  - conv_transpose: {filters: 2, kernel: 3, stride: 1, pad: same_lower, dilation: 2}
  - dense: 5)"},
    {"max_pool", R"(
input: [3, 9, 8]
layers:
  - max_pool: {size: 3, stride: 2, pad: 1, ceil: true}
  - max_pool: {size: 2, stride: 1, pad: same_lower}
  - dense: 5)"},
    {"avg_pool", R"(
profile: caffe
input: [3, 12, 9]
layers:
  - avg_pool: {size: 3, stride: 2, pad: 1, ceil: true}
  - avg_pool: {size: 2, stride: 2, pad: 1, ceil: false}
  - avg_pool: {size: [3, 2], stride: 2, pad: same_upper, count_pad: false}
  - dense: 5)"},
    {"avg_pool_counted", R"(
profile: torch
input: [3, 8, 8]
layers: [avg_pool: {size: 3, stride: 2, pad: 1}, dense: 5])"},
    {"global_pools", R"(
input: [3, 6, 5]
layers: [concat: [[global_max_pool], [global_avg_pool]], dense: 5])"},
    {"upsample", R"(
input: [3, 4, 3]
layers: [upsample: {size: [2, 3]}, upsample: {size: 2, mode: bilinear}, dense: 5])"},
    {"parts", R"(
input: [6, 8, 7]
layers:
  - pad: {top: 1, left: 2, right: 3, value: 0.5}
  - crop: {top: 2, bottom: 1, right: 2}
  - slice: {begin: -4, end: -1}
  - slice: {begin: 1, axis: height}
  - slice: {begin: 2, end: 6, axis: width}
  - dense: 7
  - slice: {begin: 1, end: 6})"},
    {"shapes", R"(
input: [6, 4, 5]
layers: [permute: {axes: [w, c, h]}, reshape: [3, 8, 5], conv: [4, 3], reshape: [-1], flatten, dense: 5])"},
};

constexpr Small kNorms[] = {
    {"bn", R"(
input: [5, 6, 4]
layers: [bn: {eps: 0.01}, bn: {scale: false}, conv: [4, 3], bn: {center: false}, dense: 6, bn, dense: 5])"},
    {"bn_shared", R"(
input: [4, 6, 6]
layers:
  - {conv: {filters: 4, kernel: 3, pad: same_upper}, as: first}
  - bn
  - relu
  - {conv: {filters: 4, kernel: 3, pad: same_upper}, share: first}
  - bn
  - conv_transpose: {filters: 6, kernel: 2, stride: 2, groups: 2}
  - bn
  - dense: 5)"},
    {"norms", R"(
input: [6, 5, 4]
layers:
  - layer_norm
  - group_norm: {groups: 3}
  - instance_norm: {center: false}
  - group_norm: {groups: 2, scale: false}
  - dense: 8
  - layer_norm: {eps: 1e-5}
  - dense: 5)"},
    {"lrn", R"(
input: [7, 6, 5]
layers: [lrn: {size: 3, alpha: 0.5}, lrn: {size: 3, alpha: 0.7, k: 2, across: false}, dense: 5])"},
    {"per_channel", R"(
input: [4, 5, 3]
layers: [scale, prelu, scale: {center: false}, dense: 6, scale, prelu, dense: 5])"},
};

constexpr Small kElements[] = {
    {"joins", R"(
input: [4, 5, 4]
layers:
  - add: [[conv: {filters: 4, kernel: 3, pad: 1}], [], [conv: [4, 1]]]
  - average: [[conv: [4, 1]], [tanh], []]
  - maximum: [[conv: [4, 1]], []]
  - multiply: [[conv: [4, 1]], [], [sigmoid]]
  - multiply: [[global_avg_pool, dense: 4, sigmoid], []]
  - concat: [[], [conv: [3, 1]]]
  - dense: 5)"},
    {"activations", R"(
input: [5, 4, 4]
layers:
  - concat:
      - [relu]
      - [leaky_relu: 0.1]
      - [elu: 0.7]
      - [selu]
      - [gelu]
      - [swish]
      - [hard_swish]
      - [sigmoid]
      - [hard_sigmoid: 0.3]
      - [tanh]
      - [softplus]
      - [softsign]
      - [mish]
      - [identity]
      - [softmax]
  - dense: 5)"},
    {"noise", R"(
input: [3, 4, 4]
layers: [dropout: 0.5, spatial_dropout: 0.5, gaussian_noise: 0.1, dense: 6, dropout: 0.5, dense: 5, dropout: 0.1])"},
    {"sigmoid_closing", R"(
input: [6]
layers: [dense: 4, relu, dense: 1, sigmoid])"},
};

constexpr Small kSequences[] = {
    {"lstm", R"(
input: {steps: 7, features: 5}
layers:
  - lstm: {units: 6, return_sequences: true}
  - lstm: {units: 4, gates: sigmoid, activation: relu, return_sequences: true, backwards: true}
  - lstm: {units: 5, backwards: true, dropout: 0.2, recurrent_dropout: 0.1}
  - dense: 5)"},
    {"simple_rnn", R"(
input: {steps: 6, features: 4}
layers:
  - simple_rnn: {units: 6, return_sequences: true}
  - simple_rnn: {units: 4, activation: relu, return_sequences: true, backwards: true}
  - simple_rnn: 5
  - dense: 5)"},
    {"pool_steps", R"(
input: {steps: 6, features: 4}
layers:
  - lstm: {units: 5, return_sequences: true}
  - concat: [[pool_steps: average], [pool_steps: maximum], [pool_steps: last]]
  - dense: 5)"},
    {"tokens", R"(
input: {tokens: 6, vocabulary: 11}
layers:
  - concat: [[one_hot], [embedding: 5]]
  - lstm: {units: 6, return_sequences: true}
  - dense: {units: 7, per_position: true}
  - softmax)"},
};

}  // namespace

std::vector<TestNetwork> shipped_networks() {
  std::vector<TestNetwork> networks;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(TY_SOURCE_DIR) / "models")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".yaml" || name == "blocks")
      continue;  // those are not a network
    const bool sequences = name.find("lstm") != std::string::npos;
    networks.push_back({name, load_network(entry.path()), !sequences});
  }
  std::ranges::sort(networks, {}, &TestNetwork::name);
  return networks;
}

std::vector<TestNetwork> small_networks() {
  std::vector<TestNetwork> networks;
  const auto add = [&](const auto& list) {
    for (const auto& [name, yaml] : list) {
      networks.push_back({name, config::parse_yaml(yaml, name), false});
    }
  };
  add(kMaps);
  add(kNorms);
  add(kElements);
  add(kSequences);
  return networks;
}

std::vector<TestNetwork> all_networks() {
  std::vector<TestNetwork> networks = shipped_networks();
  for (TestNetwork& network : small_networks()) networks.push_back(std::move(network));
  networks.push_back(preprocessed_network());
  return networks;
}

namespace {

/// Numbers in [0, 1) of a tensor.
class Draws {
 public:
  explicit Draws(const std::string& name)
      : key_(std::stoull(hash128_hex(name).substr(0, 15), nullptr, 16)) {}
  std::vector<float> between(double least, double most, std::int64_t count) const {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Random4 draw = random4(key_, RandomStream::synthetic, 0, 0, i);
      values[i] = static_cast<float>(least + (most - least) * uniform01(draw.word[0]));
    }
    return values;
  }

 private:
  std::uint64_t key_;
};

std::vector<float> drawn(const ParameterSpec& parameter, const std::string& name) {
  const Draws draws(name);
  const std::int64_t count = parameter.shape.elements();
  if (parameter.name == "gamma") return draws.between(0.6, 1, count);
  if (parameter.group != ParameterGroup::kernel) return draws.between(-0.2, 0.2, count);
  const double bound = std::sqrt(6.0 / static_cast<double>(parameter.fan_in));
  return draws.between(-bound, bound, count);
}

}  // namespace

TestNetwork preprocessed_network() {
  const config::Node keys = config::parse_yaml(
      "preprocess: [{mean_image: train}, {scale: 0.25}, {mean_rgb: train}, {std_rgb: train}, "
      "samplewise_center, samplewise_std, {zca: {epsilon: 0.1}}]",
      "preprocess");
  config::Diagnostics diagnostics;
  config::Fields fields(keys, nullptr, "preprocess", config::Profile::keras2, diagnostics);
  std::vector<std::shared_ptr<const Preprocess>> steps;
  fields.list_of("preprocess", steps, "the steps", preprocess_kinds());
  diagnostics.raise();
  const Shape image{3, 4, 3};
  auto pipeline = std::make_shared<Pipeline>(
      image, std::vector<std::shared_ptr<const Augmentation>>(), std::move(steps));
  const Draws draws("statistics");
  pipeline->prepare({.mean_image = draws.between(90, 150, 36),
                     .mean = draws.between(100, 140, 3),
                     .deviation = draws.between(40, 70, 3)});
  pipeline->whiten_with(draws.between(-0.3, 0.3, 36 * 36));
  return {"preprocess", config::parse_yaml("{input: [3, 4, 3], layers: [dense: 5]}", "preprocess"),
          false, std::move(pipeline)};
}

NamedWeights drawn_weights(const Graph& network) {
  NamedWeights weights;
  for (const Node& node : network.nodes) {
    for (const ParameterSpec& parameter : own_parameters(node)) {
      const std::string name = node.path + "." + parameter.name;
      weights[name] = drawn(parameter, name);
    }
    for (const StatisticSpec& statistic : node.signature.statistics) {
      const std::string name = node.path + "." + statistic.name;
      const bool mean = statistic.name == "running_mean";
      weights[name] =
          Draws(name).between(mean ? -0.2 : 0.5, mean ? 0.2 : 1.5, statistic.shape.elements());
    }
  }
  return weights;
}

Graph network_with_logits(const config::Node& network, std::int64_t batch) {
  Graph graph = build_graph(network, {.batch = batch, .peel_activation = false});
  if (!graph.closing_activation.empty()) {
    graph.outputs.push_back({"logits", graph.nodes.back().inputs[0]});
  }
  return graph;
}

OnnxModel model_of(const TestNetwork& test, bool folded) {
  const Graph graph = network_with_logits(test.network, 2);
  OnnxPreprocessing preprocessing;
  if (test.pipeline) preprocessing = preprocessing_of(*test.pipeline);
  OnnxModel model = onnx_model_of(graph, drawn_weights(graph), preprocessing);
  if (folded) fold_batch_norms(model);
  return model;
}

}  // namespace trainyard::export_tests
