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
#include "op_networks.h"

namespace trainyard::export_tests {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::vector<TestNetwork> shipped_networks() {
  std::vector<TestNetwork> networks;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(TY_SOURCE_DIR) / "models")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".yaml" || name == "blocks")
      continue;  // these are not a network
    const bool sequences = name.find("lstm") != std::string::npos;
    networks.push_back({name, load_network(entry.path()), !sequences});
  }
  std::ranges::sort(networks, {}, &TestNetwork::name);
  return networks;
}

std::vector<TestNetwork> small_networks() {
  std::vector<TestNetwork> networks;
  for (const test::OpNetwork& small : test::op_networks()) {
    networks.push_back({.name = small.name, .network = small.network, .judged = small.judged});
  }
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
