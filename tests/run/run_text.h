// Runs from YAML text.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "run/config/run_config.h"

namespace trainyard::test {

/// A run of one dense layer and one epoch.
inline constexpr const char* kTinyRun = R"(
name: tiny
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
batch: {per_gpu: 8}
loss: cross_entropy
optimizer: sgd
epochs: 1
)";

/// A run of ten steps of one dense layer.
inline constexpr const char* kTenStepRun = R"(name: tiny
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 40}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 10, split: test}
  workers: 0
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
threads: 1
)";

/// The run of `yaml`, read from a temporary file. Thread-safe.
inline RunConfig read_run(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  static std::atomic<int> count = 0;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() /
      ("run-" + std::to_string(getpid()) + "-" + std::to_string(++count) + ".yaml");
  struct Removal {
    const std::filesystem::path& path;
    ~Removal() { std::filesystem::remove(path); }
  } const removal{path};
  std::ofstream(path) << yaml;
  return read_run_config(path, overrides);
}

/// The message with which an action is refused, without the file's name; "accepted" if it is not.
inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string text = error.what();
    const auto file = text.find(".yaml:");
    return file == std::string::npos ? text : text.substr(file + 6);
  }
  return "accepted";
}

}  // namespace trainyard::test
