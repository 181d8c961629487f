// Run files: `extends:`, merging and `--set`.
#include <algorithm>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/file_path.h"
#include "config/load.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

constexpr std::size_t kExtendsDepth = 8;

[[noreturn]] void refuse(const Position& where, const std::string& text) {
  throw config_error(where.text() + ": " + text);
}

std::string below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

bool is_rival(const ExclusiveKeys& exclusive_keys, const std::string& key) {
  return exclusive_keys.keys.empty() ||
         std::find(exclusive_keys.keys.begin(), exclusive_keys.keys.end(), key) !=
             exclusive_keys.keys.end();
}

// Drops keys of `base` that `over` replaces by naming a key that excludes them.
void drop_rivals(Node& base, const Node& over, std::span<const ExclusiveKeys> exclusive_keys,
                 const std::string& path) {
  for (const ExclusiveKeys& rule : exclusive_keys) {
    if (rule.path != path) continue;
    const bool named = std::any_of(over.entries.begin(), over.entries.end(),
                                   [&](const Entry& entry) { return is_rival(rule, entry.key); });
    if (!named) continue;
    std::erase_if(base.entries, [&](const Entry& entry) {
      return is_rival(rule, entry.key) && over.find(entry.key) == nullptr;
    });
  }
}

// A chain of run files, the requested one first.
class Chain {
 public:
  Node load(const fs::path& path, std::span<const ExclusiveKeys> exclusive_keys) {
    files_.push_back(path);
    Node node = load_yaml(path);
    if (node.kind == Node::Kind::null) node.kind = Node::Kind::map;
    if (node.kind != Node::Kind::map) {
      refuse(node.where, "a run file is a map of keys, found " + describe(node));
    }
    const auto extends = std::find_if(node.entries.begin(), node.entries.end(),
                                      [](const Entry& entry) { return entry.key == "extends"; });
    if (extends == node.entries.end()) {
      refuse_misspelt_extends(node);
      return node;
    }
    const Node name = extends->value;
    node.entries.erase(extends);
    return merged(load(base_of(name), exclusive_keys), node, exclusive_keys);
  }

 private:
  // As a key of the run, it would be followed by errors for everything in the base file.
  static void refuse_misspelt_extends(const Node& node) {
    const std::vector<std::string> key{"extends"};
    for (const Entry& entry : node.entries) {
      if (nearest(entry.key, key).empty()) continue;
      refuse(entry.where, "unknown key '" + entry.key + "'" + suggestion(entry.key, key));
    }
  }

  fs::path base_of(const Node& name) const {
    if (name.kind != Node::Kind::text) {
      refuse(name.where, "'extends' must be the name of one run file, found " + describe(name));
    }
    const fs::path path = path_from(name.where, name.text);
    std::error_code error;
    if (!fs::exists(path, error)) {
      refuse(name.where, "'extends' names a missing file" +
                             (error ? " (" + error.message() + ")" : "") + ": " + path.string() +
                             near_file(path));
    }
    for (const fs::path& file : files_) {
      if (fs::equivalent(file, path, error)) {
        refuse(name.where, "'extends' forms a cycle: " + chain_text() + " -> " + path.string());
      }
    }
    if (files_.size() >= kExtendsDepth) {
      refuse(name.where, "'extends' chains more than " + std::to_string(kExtendsDepth) +
                             " files: " + chain_text());
    }
    return path;
  }

  [[nodiscard]] std::string chain_text() const {
    std::vector<std::string> names;
    for (const fs::path& file : files_) names.push_back(file.string());
    return joined(names, " -> ");
  }

  std::vector<fs::path> files_;
};

// "a.b.c=value", split.
struct Override {
  std::vector<std::string> keys;
  Node value;
  Position where;
};

[[noreturn]] void refuse_override(const std::string& text, const std::string& reason) {
  refuse_command(std::string(kSetPrefix) + shell_quoted(text) + ": " + reason);
}

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) {
    refuse_override(text, "expected KEY=VALUE, as in --set optimizer.sgd.lr=1e-3");
  }
  Override result;
  const std::string path = text.substr(0, equals);
  result.keys = split(path, '.');
  for (const std::string& key : result.keys) {
    if (key.empty()) refuse_override(text, "a key is empty in '" + path + "'");
  }
  if (path == "extends") refuse_override(text, "'extends' is allowed only in a run file");
  result.where = {std::string(kSetPrefix) + path, 1, 1};
  try {
    result.value = parse_yaml(text.substr(equals + 1), result.where.file);
  } catch (const Error& error) {
    refuse_command(error.what());
  }
  return result;
}

// True if `path` holds a member of a family, so that a bare name may become a map.
bool is_family(std::span<const ExclusiveKeys> exclusive_keys, const std::string& path) {
  return std::any_of(exclusive_keys.begin(), exclusive_keys.end(), [&](const ExclusiveKeys& rule) {
    return rule.path == path && rule.keys.empty();
  });
}

// Creates the maps along the path: null and a part that is off become a map, and the bare name
// `sgd` becomes `sgd: {}` if the path continues into it. Rejects lists and other values.
void open_path(Node& root, const Override& wanted, std::span<const ExclusiveKeys> exclusive_keys,
               const std::string& text) {
  Node* node = &root;
  std::string path;
  for (const std::string& key : wanted.keys) {
    if (node->kind == Node::Kind::text && node->text == key) {
      Node map;
      map.kind = Node::Kind::map;
      map.where = node->where;
      map.entries.push_back({key, node->where, Node{}});
      map.entries[0].value.where = node->where;
      *node = std::move(map);
    }
    const bool gives_way = node->kind == Node::Kind::null || turns_off(*node) || turns_on(*node) ||
                           (node->kind == Node::Kind::text && is_family(exclusive_keys, path));
    if (gives_way) return;
    if (node->kind != Node::Kind::map) {
      refuse_override(text, "'" + path + "' is " + describe(*node) + " (" + node->where.text() +
                                "); --set goes through maps only, set '" + path + "' as a whole");
    }
    node = node->find(key);
    if (node == nullptr) return;
    path = below(path, key);
  }
}

Node tree_of(const Override& wanted) {
  Node node = wanted.value;
  for (auto key = wanted.keys.rbegin(); key != wanted.keys.rend(); ++key) {
    Node map;
    map.kind = Node::Kind::map;
    map.where = wanted.where;
    map.entries.push_back({*key, wanted.where, std::move(node)});
    node = std::move(map);
  }
  return node;
}

}  // namespace

Node merged(const Node& base, const Node& over, std::span<const ExclusiveKeys> exclusive_keys,
            const std::string& path) {
  if (base.kind != Node::Kind::map || over.kind != Node::Kind::map) return over;
  Node result = base;
  drop_rivals(result, over, exclusive_keys, path);
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < result.entries.size(); ++i) {
    index.emplace(result.entries[i].key, i);
  }
  std::vector<const Entry*> fresh;
  for (const Entry& entry : over.entries) {
    const auto found = index.find(entry.key);
    if (found == index.end()) {
      fresh.push_back(&entry);
      continue;
    }
    Entry& target = result.entries[found->second];
    target.value = merged(target.value, entry.value, exclusive_keys, below(path, entry.key));
    target.where = entry.where;
  }
  for (const Entry* entry : fresh) result.entries.push_back(*entry);
  result.where = over.where;
  return result;
}

Node load_run(const fs::path& path, std::span<const std::string> overrides,
              std::span<const ExclusiveKeys> exclusive_keys) {
  Node run = Chain().load(path, exclusive_keys);
  for (const std::string& text : overrides) {
    const Override wanted = parse_override(text);
    open_path(run, wanted, exclusive_keys, text);
    const Position where = run.where;
    run = merged(run, tree_of(wanted), exclusive_keys);
    run.where = where;
  }
  return run;
}

}  // namespace trainyard::config
