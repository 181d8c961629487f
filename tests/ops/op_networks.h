// Networks that tests/ops/*.yaml have beside the cases of ops, `network: NAME`: they are exported,
// and trained by the plan of a GPU. Together they have every op, and every attribute that changes
// its form in ONNX.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "config/load.h"

namespace trainyard::test {

struct OpNetwork {
  std::string name;
  config::Node network;
  /// Hashes of its model in ONNX that onnxruntime has accepted, plain and with batch norms folded;
  /// one if these are equal.
  std::vector<std::string> judged;
};

[[nodiscard]] inline std::vector<OpNetwork> op_networks() {
  std::vector<OpNetwork> networks;
  for (const auto& file : std::filesystem::directory_iterator(TY_SOURCE_DIR "/tests/ops")) {
    if (file.path().extension() != ".yaml") continue;
    for (config::Node& entry : config::load_yaml(file.path()).items) {
      const config::Node* const name = entry.find("network");
      if (name == nullptr) continue;
      OpNetwork network{.name = name->text, .network = {}, .judged = {}};
      for (const config::Node& hash : entry.find("judged")->items) {
        network.judged.push_back(hash.text);
      }
      std::erase_if(entry.entries, [](const config::Entry& one) {
        return one.key == "network" || one.key == "judged";
      });
      network.network = entry;
      networks.push_back(network);
    }
  }
  std::ranges::sort(networks, {}, &OpNetwork::name);
  return networks;
}

}  // namespace trainyard::test
