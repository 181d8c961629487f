#include "export/name_map.h"

#include <set>
#include <sstream>
#include <utility>

#include "base/read_file.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "config/load.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kMostBytes = 1 << 20;

void add_names(const config::Node& value, NameMapEntry& entry, config::Diagnostics& diagnostics) {
  if (value.kind == config::Node::Kind::list) {
    for (const config::Node& item : value.items) {
      if (item.kind == config::Node::Kind::list) {
        diagnostics.error(item.where, "expected a name, found a list");
      } else {
        add_names(item, entry, diagnostics);
      }
    }
  } else if (value.is_scalar() && !value.text.empty()) {
    entry.theirs.push_back(value.text);
  } else {
    diagnostics.error(value.where, entry.ours + ": expected a name or a list of names, found " +
                                       config::describe(value));
  }
}

NameMap read_yaml_map(const std::filesystem::path& path, config::Diagnostics& diagnostics) {
  const config::Node file = config::load_yaml(path);
  if (file.kind != config::Node::Kind::map) {
    diagnostics.error(file.where, "expected a map of names, found " + config::describe(file));
  }
  NameMap map;
  for (const config::Entry& entry : file.entries) {
    map.push_back({.ours = entry.key, .theirs = {}, .where = entry.where});
    add_names(entry.value, map.back(), diagnostics);
  }
  return map;
}

NameMap read_columns(const std::filesystem::path& path, config::Diagnostics& diagnostics) {
  std::istringstream text(read_text(path, ErrorKind::config, kMostBytes));
  NameMap map;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    NameMapEntry entry{.where = {path.string(), number, 1}};
    if (!(words >> entry.ours)) continue;
    for (std::string name; words >> name;) entry.theirs.push_back(name);
    if (entry.theirs.empty()) {
      diagnostics.error(entry.where, "expected 'OURS THEIRS', found '" + entry.ours + "' alone");
    }
    map.push_back(std::move(entry));
  }
  return map;
}

}  // namespace

NameMap read_name_map(const std::filesystem::path& path) {
  config::Diagnostics diagnostics;
  const std::string extension = lower_case(path.extension().string());
  const bool yaml = extension == ".yaml" || extension == ".yml";
  NameMap map = yaml ? read_yaml_map(path, diagnostics) : read_columns(path, diagnostics);
  std::set<std::string> names;
  for (const NameMapEntry& entry : map) {
    if (names.insert(entry.ours).second) continue;
    diagnostics.error(entry.where, "'" + entry.ours + "' has a name already");
  }
  diagnostics.raise();
  return map;
}

}  // namespace trainyard
