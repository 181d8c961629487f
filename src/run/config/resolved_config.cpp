#include "run/config/resolved_config.h"

#include "base/hash.h"
#include "base/text.h"
#include "config/load.h"
#include "graph/include.h"

namespace trainyard {
namespace {

config::Node resolved_tree(const RunConfig& config) {
  config::Node tree = config.settled;
  *tree.find("network") = without_unused_includes(network_of(config));
  return tree;
}

std::string without_key(std::string_view yaml, std::string_view key) {
  const std::string before = "\n" + std::string(yaml);
  const std::size_t begin = before.find("\n" + std::string(key) + ": ");
  if (begin == std::string::npos) return std::string(yaml);
  const std::size_t end = before.find('\n', begin + 1);
  const std::string after = end == std::string::npos ? "" : before.substr(end);
  return (before.substr(0, begin) + after).substr(1);
}

/// Without the keys that no result depends on.
std::string without_resources(std::string_view yaml) {
  return without_key(without_key(yaml, "threads"), "overlap");
}

}  // namespace

std::string resolved_yaml(const RunConfig& config) {
  return config::to_yaml(resolved_tree(config));
}

std::string typed_yaml(const RunConfig& config) {
  return config::to_yaml(config::with_typed_paths(resolved_tree(config)));
}

std::string config_hash(std::string_view config, std::string_view weights) {
  Hash128 hash;
  hash.update(without_resources(config));
  // Nothing is added without weights: the hash of a config alone must not change.
  if (!weights.empty()) hash.update("init: " + std::string(weights) + "\n");
  return hash.hex();
}

std::vector<config::Difference> config_differences(const RunConfig& before,
                                                   const RunConfig& after) {
  return config::differences(resolved_tree(before), resolved_tree(after));
}

std::vector<config::Difference> typed_differences(const RunConfig& before, const RunConfig& after) {
  return config::differences(config::with_typed_paths(resolved_tree(before)),
                             config::with_typed_paths(resolved_tree(after)));
}

std::vector<std::string> replaced_by(std::span<const std::string> overrides,
                                     const std::filesystem::path& path) {
  const config::Node before = config::load_run(path, {}, run_rivals());
  const config::Node after = config::load_run(path, overrides, run_rivals());
  std::vector<std::string> replaced;
  for (const config::ExclusiveKeys& rule : run_rivals()) {
    const config::Node* old = before.find(rule.path);
    const config::Node* now = after.find(rule.path);
    if (old == nullptr || now == nullptr) continue;
    for (const auto& [key, where, value] : old->entries) {
      if (now->find(key) != nullptr || value.entries.empty()) continue;
      std::vector<std::string> keys;
      for (const config::Entry& entry : value.entries) keys.push_back(entry.key);
      replaced.push_back(rule.path + "." + key + " with its " + joined(keys));
    }
  }
  return replaced;
}

}  // namespace trainyard
