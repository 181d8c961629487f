// Every file in bad/ is refused with exactly the messages in its lines beginning with `#! `.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> bad_files() {
  std::vector<fs::path> files;
  for (const auto& entry :
       fs::directory_iterator(std::string(TY_SOURCE_DIR) + "/tests/graph/bad")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string expected_message(const std::string& text) {
  std::istringstream lines(text);
  std::string message;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#! ")) message += (message.empty() ? "" : "\n") + line.substr(3);
  }
  return message;
}

TEST_CASE("every bad network is refused with its exact messages") {
  const std::vector<fs::path> files = bad_files();
  CHECK(files.size() >= 30);
  for (const fs::path& path : files) {
    INFO(path.string());
    const std::string text = text_of(path);
    const std::string expected = expected_message(text);
    CHECK_FALSE(expected.empty());
    CHECK(test::message_of(text, path.filename().string()) == expected);
  }
}

TEST_CASE("a network that would expand enormously is refused") {
  const char* const kLimit = "the network expands to more than 100,000 layers";
  // Ten levels of ten calls: 10^10 layers.
  std::string tree = "input: [3]\nblocks:\n  level_a: {layers: [relu]}\n";
  for (char level = 'b'; level <= 'k'; ++level) {
    const std::string below(1, static_cast<char>(level - 1));
    tree += std::string("  level_") + level + ": {layers: [repeat: {times: 10, layers: [level_" +
            below + "]}]}\n";
  }
  CHECK(test::message_of(tree + "layers: [level_k]\n").find(kLimit) != std::string::npos);
  const std::string many = "{input: [3], layers: [repeat: {times: 9000000000, layers: [relu]}]}";
  CHECK(test::message_of(many).find(kLimit) != std::string::npos);
  const std::string empty = "{input: [3], layers: [repeat: {times: 9000000000, layers: []}]}";
  CHECK(test::message_of(empty).find(kLimit) != std::string::npos);
}

TEST_CASE("a hundred thousand layers are allowed") {
  const Graph graph =
      test::build("{input: [3], layers: [repeat: {times: 100000, layers: [relu]}]}");
  CHECK(graph.nodes.size() == 100'000);
}

}  // namespace
}  // namespace trainyard
