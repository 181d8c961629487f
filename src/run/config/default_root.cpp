#include "run/config/default_root.h"

#include <algorithm>

#include "config/schema.h"
#include "data/sets/dataset.h"

namespace trainyard {
namespace {

constexpr const char* kDefaultRoot = "data";

/// True if the source's own declarations give `root` a value.
bool has_default_root(const std::string& source) {
  const auto kinds = dataset_kinds();
  const auto kind = std::ranges::find(kinds, source, &config::Kind<DatasetSource>::name);
  if (kind == kinds.end()) return false;
  config::Fields fields(config::Profile::keras2);
  static_cast<void>(kind->read(fields));
  return std::ranges::any_of(fields.descriptions(), [](const config::FieldDescription& field) {
    return field.key == "root" && !field.required && field.default_text == kDefaultRoot;
  });
}

}  // namespace

void put_default_root(config::Node& run, const std::string& folder) {
  config::Node* data = run.find("data");
  if (folder.empty() || data == nullptr) return;
  for (const char* split : {"train", "val"}) {
    config::Node* map = data->find(split);
    if (map == nullptr) continue;
    const config::Node* given = map->find("root");
    if (given != nullptr && given->kind != config::Node::Kind::null) continue;
    std::erase_if(map->entries, [](const config::Entry& entry) { return entry.key == "root"; });
    const config::Node* source = map->find("source");
    if (source == nullptr || !has_default_root(source->text)) continue;
    // Its position is in no file, so that it is relative to the current folder.
    config::Node root = config::scalar_node(folder, true, {"$TRAINYARD_DATA", 1, 1});
    root.typed_path = kDefaultRoot;
    map->entries.push_back({.key = "root", .where = map->where, .value = std::move(root)});
  }
}

}  // namespace trainyard
