#include "run/config/key_paths.h"

#include <algorithm>

#include "base/text.h"
#include "config/file_path.h"
#include "config/schema.h"
#include "run/config/run_config.h"

namespace trainyard {
namespace {

using config::FieldDescription;
using Kind = config::Node::Kind;

std::vector<std::string> words_of(const FieldDescription& field) {
  std::vector<std::string> words = field.words;
  if (field.type == "boolean") words = {"true", "false"};
  if (field.type == "one of" || field.type == "selected") {
    for (const FieldDescription::Member& member : field.members) words.push_back(member.name);
  }
  if (field.feature) words.emplace_back("false");
  return words;
}

void add_paths(const std::vector<FieldDescription>& fields, const std::string& prefix,
               const std::string& source, std::vector<KeyPath>& paths) {
  for (const FieldDescription& field : fields) {
    if (field.others) continue;  // keys that the user names
    const std::string path = prefix + field.key;
    paths.push_back({path, field.type, source, field.help, words_of(field)});
    add_paths(field.fields, path + ".", "", paths);
    const bool inlined = field.type == "selected";
    if (!inlined && field.type != "one of") continue;
    for (const FieldDescription::Member& member : field.members) {
      add_paths(member.fields, inlined ? prefix : path + "." + member.name + ".",
                inlined ? member.name : "", paths);
    }
  }
}

/// How many keys of the path are in the run file.
std::size_t depth_in(const config::Node& run, const std::string& path) {
  const config::Node* node = &run;
  std::size_t depth = 0;
  for (const std::string& key : split(path, '.')) {
    if (node->kind == Kind::text && node->text == key) return depth + 1;
    node = node->find(key);
    if (node == nullptr) return depth;
    ++depth;
  }
  return depth;
}

/// Whether the file has another optimizer, schedule, loss or source than the key's.
bool contradicts(const KeyPath& key, const config::Node& run) {
  const std::size_t dot = key.path.find('.');
  const std::string first = key.path.substr(0, dot);
  const config::Node* family = run.find(first);
  if (dot == std::string::npos || family == nullptr) return false;
  const bool one = std::ranges::any_of(run_rivals(), [&](const config::ExclusiveKeys& rule) {
    return rule.path == first && rule.keys.empty();
  });
  if (one) return depth_in(run, key.path) < 2;
  if (key.source.empty()) return false;
  const config::Node* split = family->find(trainyard::split(key.path, '.')[1]);
  const config::Node* source = split == nullptr ? nullptr : split->find("source");
  return source != nullptr && source->text != key.source;
}

/// Whether the value that was written elsewhere has the type of a key.
bool fits(const std::string& type, const config::Node& value) {
  if (type == "number" || type == "list of numbers") return value.is_number();
  if (type == "integer" || type == "pair") return value.kind == Kind::integer;
  if (type == "boolean") return value.kind == Kind::boolean;
  return type == "text" && value.kind == Kind::text;
}

}  // namespace

const std::vector<KeyPath>& key_paths() {
  static const std::vector<KeyPath> paths = [] {
    std::vector<KeyPath> list;
    add_paths(describe_run(), "", "", list);
    list.push_back({"network.file", "text"});  // file of a tree
    return list;
  }();
  return paths;
}

const KeyPath* find_key(const std::string& key, const config::Node& run) {
  const KeyPath* best = nullptr;
  for (const KeyPath& path : key_paths()) {
    if (path.path != key && !path.path.ends_with("." + key)) continue;
    // Nobody who writes '--epoch 3' means a command.
    if (path.path != key && path.path.starts_with("hooks.")) continue;
    if (contradicts(path, run)) continue;
    if (path.path == key) return &path;
    if (best == nullptr || depth_in(run, path.path) > depth_in(run, best->path)) best = &path;
  }
  return best;
}

std::string yaml_of(const KeyPath& key, const config::Node& value) {
  const std::vector<std::string> keys = split(key.path, '.');
  std::string text;
  for (const std::string& one : keys) text += (text.empty() ? "" : "{") + one + ": ";
  const bool open = key.type == "map" || key.type == "sizes or map";
  text += fits(key.type, value) ? value.text : open ? "{...}" : "...";
  return text + std::string(keys.size() - 1, '}');
}

std::string place_text(const std::string& key, const config::Entry& entry, const std::string& what,
                       const config::Node& run) {
  const KeyPath* found = find_key(key, run);
  const bool of_split = what == "train" || what == "val";  // the other one has other sources
  if (found == nullptr || (of_split && !found->source.empty())) return "";
  if (entry.where.file.starts_with(config::kSetPrefix)) {
    const config::Node& value = entry.value;
    return "; did you mean '--set " + found->path + "=" +
           (value.is_scalar() && !value.text.empty() ? value.text : "VALUE") + "'?";
  }
  return "; here it is '" + yaml_of(*found, entry.value) + "'" +
         (what == "run" ? "" : " at the top of the file");
}

}  // namespace trainyard
