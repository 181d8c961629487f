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
