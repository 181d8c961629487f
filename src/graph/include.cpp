#include "graph/include.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/file_path.h"
#include "config/load.h"
#include "config/scalars.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

constexpr std::size_t kMostFiles = 32;

/// Reads the included files, depth first, and collects their blocks.
class Includer {
 public:
  explicit Includer(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// The blocks of `owner`, a network or an included file, after those of its includes.
  void add(const config::Node& owner, const fs::path& file) {
    open_.push_back(file);
    if (const config::Node* names = owner.find("include")) read_names(*names);
    open_.pop_back();
    const config::Node* blocks = owner.find("blocks");
    if (blocks == nullptr || blocks->kind != Kind::map) return;
    for (const config::Entry& block : blocks->entries) add_block(block);
  }
  [[nodiscard]] std::vector<config::Entry> take() { return std::move(blocks_); }

 private:
  void read_names(const config::Node& names) {
    if (names.kind == Kind::text) return read(names);
    if (names.kind == Kind::null) return;
    if (names.kind != Kind::list) return refuse_name(names);
    for (const config::Node& name : names.items) {
      name.kind == Kind::text ? read(name) : refuse_name(name);
    }
  }
  void refuse_name(const config::Node& name) {
    diagnostics_.error(
        name.where, "include: expected the name of a file of blocks, or a list of names, found " +
                        describe(name));
  }

  void read(const config::Node& name) {
    const fs::path path = config::path_from(name.where, name.text);
    std::error_code error;
    if (!fs::exists(path, error)) {
      diagnostics_.error(name.where, "include: no such file: " + path.string() +
                                         (error ? " (" + error.message() + ")" : "") +
                                         config::near_file(path));
      return;
    }
    if (closes_cycle(name, path) || holds(read_, path)) return;
    read_.push_back(path);
    if (read_.size() > kMostFiles) {
      diagnostics_.error(name.where, "include: more than " + std::to_string(kMostFiles) + " files");
      return;
    }
    const config::Node file = config::load_yaml(path);
    if (is_block_file(file)) add(file, path);
  }

  bool closes_cycle(const config::Node& name, const fs::path& path) {
    if (!holds(open_, path)) return false;
    std::vector<std::string> names;
    for (const fs::path& file : open_) names.push_back(file.string());
    names.push_back(path.string());
    diagnostics_.error(name.where, "include forms a cycle: " + joined(names, " -> "));
    return true;
  }

  static bool holds(const std::vector<fs::path>& files, const fs::path& path) {
    return std::ranges::any_of(files, [&](const fs::path& file) {
      std::error_code unreadable;  // text that came from no file is equivalent to none
      return fs::equivalent(file, path, unreadable);
    });
  }

  bool is_block_file(const config::Node& file) {
    if (file.kind != Kind::map) {
      diagnostics_.error(
          file.where, "an included file is a map with the key 'blocks', found " + describe(file));
      return false;
    }
    const std::vector<std::string> known{"include", "blocks"};
    for (const config::Entry& entry : file.entries) {
      if (std::ranges::find(known, entry.key) != known.end()) continue;
      diagnostics_.error(entry.where, "key '" + entry.key +
                                          "' in an included file, which may hold 'include' and "
                                          "'blocks'" +
                                          config::suggestion(entry.key, known));
    }
    const config::Node* blocks = file.find("blocks");
    if (blocks == nullptr || blocks->kind == Kind::map) return true;
    diagnostics_.error(blocks->where,
                       "blocks: expected a map of blocks, found " + describe(*blocks));
    return false;
  }

  void add_block(const config::Entry& block) {
    const auto [known, added] = defined_.try_emplace(block.key, block.where);
    if (added) {
      blocks_.push_back(block);
      return;
    }
    diagnostics_.error(block.where, "block '" + block.key + "' is also defined at " +
                                        known->second.text() + ", which is included; rename one");
  }

  Diagnostics& diagnostics_;
  std::vector<fs::path> open_;  // from the network to the file being read
  std::vector<fs::path> read_;
  std::vector<config::Entry> blocks_;
  std::map<std::string, Position> defined_;
};

/// The words in keys and texts: names of layers, also those that an expression could give.
class Words {
 public:
  void add(const config::Node& node) {
    if (node.kind == Kind::text) add(node.text);
    for (const config::Node& item : node.items) add(item);
    for (const config::Entry& entry : node.entries) {
      add(entry.key);
      add(entry.value);
    }
  }
  [[nodiscard]] bool contain(const std::string& name) const {
    return builds_names_ || words_.count(name) != 0;
  }

 private:
  void add(const std::string& text) {
    builds_names_ = builds_names_ || text.find("${") != std::string::npos;
    std::string word;
    for (const char c : text + " ") {
      if (begins_name(c) || is_digit(c)) {
        word += c;
      } else if (!word.empty()) {
        words_.insert(std::exchange(word, {}));
      }
    }
  }

  std::set<std::string> words_;
  bool builds_names_ = false;  // `act: x${n}` could be any block
};

}  // namespace

config::Node with_includes(const config::Node& network) {
  const config::Node* include = network.find("include");
  if (network.kind != Kind::map || include == nullptr) return network;
  Diagnostics diagnostics;
  Includer includer(diagnostics);
  includer.add(network, include->where.file);
  config::Node result = network;
  std::erase_if(result.entries, [](const config::Entry& entry) { return entry.key == "include"; });
  config::Node* blocks = result.find("blocks");
  if (blocks == nullptr) {
    result.entries.push_back({"blocks", include->where, {}});
    blocks = &result.entries.back().value;
    blocks->where = include->where;
  }
  if (blocks->kind == Kind::null) blocks->kind = Kind::map;
  // Anything else is reported when the network is read.
  if (blocks->kind == Kind::map) blocks->entries = includer.take();
  const std::size_t most = config::FileLimits{}.nodes;
  if (config::size_of(result).values > most) {
    diagnostics.error(include->where, "include: the network has more than " + std::to_string(most) +
                                          " values with its includes");
  }
  diagnostics.raise();
  return result;
}

config::Node load_network(const fs::path& path) { return with_includes(config::load_yaml(path)); }

config::Node without_unused_includes(const config::Node& network) {
  config::Node result = network;
  config::Node* blocks = result.find("blocks");
  const config::Node* layers = network.find("layers");
  if (blocks == nullptr || layers == nullptr) return result;
  Words words;
  for (const config::Entry& entry : network.entries) {
    if (entry.key != "blocks") words.add(entry.value);
  }
  std::vector<bool> used(blocks->entries.size(), false);
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const config::Entry& block = blocks->entries[i];
      const bool own = block.where.file == layers->where.file;
      if (used[i] || !(own || words.contain(block.key))) continue;
      used[i] = found = true;
      words.add(block.value);
    }
  }
  std::vector<config::Entry> kept;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) kept.push_back(std::move(blocks->entries[i]));
  }
  blocks->entries = std::move(kept);
  return result;
}

}  // namespace trainyard
