#include "run/config_changes.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "config/scalars.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kOverrides = "overrides";
constexpr const char* kChanges = "config_changes";
constexpr std::uint64_t kMostConfigBytes = 16u << 20;

std::string former_name(int number) { return "config." + std::to_string(number) + ".yaml"; }

/// The name under which `config` is saved. One that a killed resume saved already is reused.
std::string free_former_name(const RunFolder& folder, const std::string& config) {
  int number = 1;
  std::error_code ignored;
  while (fs::exists(folder.file(former_name(number)), ignored)) ++number;
  if (number > 1) {
    const std::string last = former_name(number - 1);
    if (read_text(folder.file(last), ErrorKind::disk, kMostConfigBytes) == config) return last;
  }
  return former_name(number);
}

Json json_of(const ConfigChange& change, const std::string& former) {
  Json keys = Json::object();
  for (const config::Difference& difference : change.differences) {
    keys[difference.key] = {{"before", difference.before}, {"after", difference.after}};
  }
  return {{"epoch", change.epoch},
          {"step", change.step},
          {"former_config", former},
          {"command", change.command},
          {"keys", keys}};
}

/// Changes so far. A resume from an older checkpoint repeats its steps with the newest config:
/// later entries move to where it began.
Json with_change(const Json& before, const ConfigChange& change, const std::string& former) {
  Json list = Json::array();
  for (Json entry : before) {
    if (entry.at("former_config") == former) continue;  // from a resume that was killed here
    entry["epoch"] = std::min(entry.at("epoch").get<std::int64_t>(), change.epoch);
    entry["step"] = std::min(entry.at("step").get<std::int64_t>(), change.step);
    list.push_back(std::move(entry));
  }
  list.push_back(json_of(change, former));
  return list;
}

std::string csv_of(const Json& changes) {
  std::string text = "epoch,step,key,before,after,former_config\n";
  for (const Json& change : changes) {
    for (const auto& [key, values] : change.at("keys").items()) {
      text += change.at("epoch").dump() + "," + change.at("step").dump() + "," + csv_quoted(key) +
              "," + csv_quoted(values.at("before").get<std::string>()) + "," +
              csv_quoted(values.at("after").get<std::string>()) + "," +
              csv_quoted(change.at("former_config").get<std::string>()) + "\n";
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> changes_of(const fs::path& run_json) {
  std::vector<std::string> changes;
  const auto put = [&](const std::string& key, const std::string& change) {
    std::erase_if(changes, [&](const std::string& old) { return old.starts_with(key + "="); });
    changes.push_back(change);
  };
  try {
    const std::string name = run_json.string();
    const Json run = parse_json(read_text(name, ErrorKind::data, kMostConfigBytes), {name});
    for (const std::string change : run.value(kOverrides, Json::array())) {
      put(change.substr(0, change.find('=')), change);
    }
    for (const Json& change : run.value(kChanges, Json::array())) {
      for (const auto& [key, values] : change.at("keys").items()) {
        put(key, key + "=" + values.at("after").get<std::string>());
      }
    }
  } catch (const Json::exception&) {
    return {};  // not a file of ours
  } catch (const Error&) {
    return {};
  }
  return changes;
}

std::string record_change(const RunFolder& folder, const ConfigChange& change) {
  const std::string before =
      read_text(folder.file("config.yaml"), ErrorKind::disk, kMostConfigBytes);
  const std::string former = free_former_name(folder, before);
  folder.write(former, before);
  std::string warning;
  try {
    const std::string name = folder.file("run.json").string();
    Json run =
        parse_json(read_text(name, ErrorKind::data, kMostConfigBytes), {name, ErrorKind::data});
    run["config_hash"] = change.config_hash;
    run[kTypedPaths] = change.paths;
    run[kChanges] = with_change(run.value(kChanges, Json::array()), change, former);
    folder.write("metrics.changes.csv", csv_of(run[kChanges]));
    folder.write("run.json", json_text(run));
  } catch (const Json::exception& error) {
    warning = std::string("cannot read the changes in run.json: ") + error.what();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    warning = error.what();
  }
  folder.write("config.yaml", change.config_yaml);
  if (warning.empty()) return "";
  return warning + "; the changes of this resume are only in config.yaml; the former config is " +
         former;
}

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
