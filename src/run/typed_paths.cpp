#include "run/typed_paths.h"

#include <functional>

#include "checkpoint/run_identity.h"
#include "config/values.h"

namespace trainyard {
namespace {

constexpr const char* kTyped = "typed";
constexpr const char* kPath = "path";

using Visit = std::function<void(const std::string& key, config::Node& path)>;

/// Calls `visit` for each path below `node`, whose key is `key`.
void for_each_path(config::Node& node, const std::string& key, const Visit& visit) {
  if (!node.typed_path.empty()) visit(key, node);
  for (config::Entry& entry : node.entries) {
    for_each_path(entry.value, key.empty() ? entry.key : key + "." + entry.key, visit);
  }
}

void recall(RunConfig& run, const Json& known) {
  for_each_path(run.settled, "", [&](const std::string& key, config::Node& path) {
    const Json record = known.value(key, Json::object());
    if (record.value(kPath, "") == path.text) path.typed_path = record.value(kTyped, path.text);
  });
}

}  // namespace

Json typed_paths(const config::Node& settled) {
  Json paths = Json::object();
  config::Node tree = settled;
  for_each_path(tree, "", [&](const std::string& key, const config::Node& path) {
    paths[key] = {{kTyped, path.typed_path}, {kPath, path.text}};
  });
  return paths;
}

RunConfig read_config_of_run(const std::filesystem::path& folder,
                             std::span<const std::string> overrides) {
  RunConfig run = read_run_config(folder / "config.yaml", overrides);
  try {
    const std::optional<Json> record = run_record(folder / "run.json");
    if (record) recall(run, record->value(kTypedPaths, Json::object()));
  } catch (const Json::exception&) {
    // Not a record of ours: the paths count as they are in config.yaml.
  }
  return run;
}

std::vector<std::string> moved_paths(const RunConfig& run, const RunConfig& given) {
  const Json known = typed_paths(run.settled), paths = typed_paths(given.settled);
  std::vector<std::string> changes;
  for (const auto& [key, path] : paths.items()) {
    const std::string place = path.at(kPath);
    if (known.contains(key) && known[key].at(kPath) != place) {
      changes.push_back(key + "=" + config::written(place));
    }
  }
  return changes;
}

void take_typed_paths(RunConfig& run, const RunConfig& given) {
  recall(run, typed_paths(given.settled));
}

}  // namespace trainyard
