// Networks to export: the shipped ones, and small ones that together have every op and every
// attribute that changes its form in ONNX.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/node.h"
#include "data/augment/pipeline.h"
#include "export/named_weights.h"
#include "export/onnx_model.h"
#include "graph/graph.h"

namespace trainyard::export_tests {

struct TestNetwork {
  std::string name;  // a file name
  config::Node network;
  bool images = false;  // a network of convolutions, which OpenCV reads too
  /// Preprocesses the values, which are given raw; null: none.
  std::shared_ptr<const Pipeline> pipeline = nullptr;
  /// Hashes of the model, plain and folded, if they are not in judged.txt.
  std::vector<std::string> judged = {};
};

/// Networks of models/.
[[nodiscard]] std::vector<TestNetwork> shipped_networks();
/// Networks of tests/ops/*.yaml.
[[nodiscard]] std::vector<TestNetwork> small_networks();
/// One with every preprocessing step.
[[nodiscard]] TestNetwork preprocessed_network();
/// All of these.
[[nodiscard]] std::vector<TestNetwork> all_networks();

/// Weights that depend on their names alone: kernels uniform with the variance 2 / fan_in, running
/// statistics and the parameters of norms such that none is without effect.
[[nodiscard]] NamedWeights drawn_weights(const Graph& network);

/// The whole network at this batch. What its closing activation reads is its output "logits".
[[nodiscard]] Graph network_with_logits(const config::Node& network, std::int64_t batch);

/// Its model with drawn_weights() and its preprocessing.
[[nodiscard]] OnnxModel model_of(const TestNetwork& test, bool folded);

}  // namespace trainyard::export_tests
