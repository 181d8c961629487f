#include "graph/item.h"

#include <algorithm>
#include <set>

#include "config/foreign_words.h"
#include "graph/expand.h"
#include "graph/words.h"

namespace trainyard {
namespace {

using config::describe;
using config::Diagnostics;
using Kind = config::Node::Kind;

bool is_extra_key(const std::string& key, const std::string& name) {
  return is_modifier(key) || (key == "layers" && name == "for");
}

/// Reports a key that does not belong next to the layer's name.
void report_stray_key(const config::Entry& entry, const Item& item, const NetworkFile& file,
                      Diagnostics& diagnostics) {
  const std::string both = "'" + entry.key + "' next to '" + item.name + "'";
  if (item_kind(entry.key, file) != Item::Kind::malformed) {
    diagnostics.error(entry.where,
                      "an item holds one layer, found " + both + "; begin a new item with '- '");
    return;
  }
  const config::Kind<Op>* op = find_op(item.name);
  const std::vector<std::string> keys =
      op == nullptr ? std::vector<std::string>{} : keys_of(*op, file.profile);
  if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) {
    diagnostics.error(entry.where, "key " + both + " belongs to it; indent it further");
    return;
  }
  const std::vector<std::string> modifiers{"if", "as", "from", "share"};
  const config::ForeignWord* foreign = config::foreign_word(entry.key, item.name);
  diagnostics.error(entry.where,
                    "unknown key " + both +
                        (foreign != nullptr ? config::meaning_text(*foreign)
                                            : "; expected if, as, from or share" +
                                                  config::suggestion(entry.key, modifiers)));
}

/// The entry that names the layer: the first with a known name, else the first that is not a
/// modifier.
const config::Entry* naming_entry(const config::Node& map, const NetworkFile& file) {
  const config::Entry* first = nullptr;
  for (const config::Entry& entry : map.entries) {
    if (is_modifier(entry.key)) continue;
    if (item_kind(entry.key, file) != Item::Kind::malformed) return &entry;
    if (first == nullptr) first = &entry;
  }
  return first;
}

void read_map(const config::Node& map, const NetworkFile& file, Item& item,
              Diagnostics& diagnostics) {
  const config::Entry* named = naming_entry(map, file);
  if (named == nullptr) {
    diagnostics.error(map.where, "expected a layer next to if, as, from and share, found none");
    return;
  }
  item.name = named->key;
  item.where = named->where;
  item.value = &named->value;
  item.condition = map.find("if");
  item.as = map.find("as");
  item.from = map.find("from");
  item.share = map.find("share");
  if (item.name == "for") item.layers = map.find("layers");
  for (const config::Entry& entry : map.entries) {
    if (&entry == named || is_extra_key(entry.key, item.name)) continue;
    report_stray_key(entry, item, file, diagnostics);
  }
}

void read_name(const config::Node& node, Item& item, Diagnostics& diagnostics) {
  if (node.kind == Kind::text && node.text.starts_with('$')) {
    diagnostics.error(node.where, "a layer's name cannot be an expression, found '" + node.text +
                                      "'; choose by act: $name or by if:");
    return;
  }
  if (node.kind != Kind::text) {
    diagnostics.error(node.where, "expected a layer, found " + describe(node));
    return;
  }
  item.name = node.text;
  item.where = node.where;
}

void check_modifiers(const Item& item, Diagnostics& diagnostics) {
  if (item.kind != Item::Kind::repeat && item.kind != Item::Kind::loop) return;
  if (item.from != nullptr) {
    diagnostics.error(item.from->where,
                      "'from' next to '" + item.name + "'; write it at the first layer inside");
  }
  if (item.share != nullptr) {
    diagnostics.error(item.share->where,
                      "'share' next to '" + item.name + "'; write it at the layers inside");
  }
}

const config::Node* checked_list(const config::Node* node, const Position& where,
                                 const std::string& what, Diagnostics& diagnostics) {
  if (node == nullptr) {
    const std::string place = what == "for" ? " next to 'for'" : "";
    diagnostics.missing(where, what + ": missing key 'layers'" + place);
    return nullptr;
  }
  if (node->kind == Kind::list) return node;
  diagnostics.error(node->where, what + ": expected a list of layers, found " + describe(*node));
  return nullptr;
}

std::vector<const config::Node*> branch_lists(const Item& item, Diagnostics& diagnostics) {
  std::vector<const config::Node*> lists;
  if (item.value == nullptr || item.value->kind == Kind::null) return lists;
  if (item.value->kind != Kind::list) {
    diagnostics.error(item.value->where,
                      item.name + ": expected a list of branches, found " + describe(*item.value));
    return lists;
  }
  for (std::size_t i = 0; i < item.value->items.size(); ++i) {
    const std::string what = item.name + ": branch " + std::to_string(i);
    lists.push_back(checked_list(&item.value->items[i], item.where, what, diagnostics));
  }
  return lists;
}

void check_repeat(const Item& item, Diagnostics& diagnostics) {
  const std::vector<std::string> keys{"times", "layers"};
  for (const config::Entry& entry : item.value->entries) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    diagnostics.error(entry.where, "unknown key '" + entry.key + "' in 'repeat'" +
                                       config::suggestion(entry.key, keys));
  }
  if (item.value->find("times") == nullptr) {
    diagnostics.missing(item.where, "repeat: missing key 'times'");
  }
}

/// A call of a block and its position.
struct Call {
  std::string block;
  Position where;
};

/// Checks a list of layers and the lists inside it; collects the blocks it calls.
void check_list(const config::Node& list, const NetworkFile& file, config::Diagnostics& diagnostics,
                std::vector<Call>& calls) {
  for (const config::Node& node : list.items) {
    const Item item = read_item(node, file, diagnostics);
    if (item.kind == Item::Kind::block) calls.push_back({item.name, item.where});
    const bool named = item.kind == Item::Kind::act && item.value != nullptr;
    if (named && file.blocks.count(item.value->text) != 0) {
      calls.push_back({item.value->text, item.where});
    }
    for (const config::Node* inner : inner_lists(item, diagnostics)) {
      if (inner != nullptr) check_list(*inner, file, diagnostics, calls);
    }
  }
}

/// Checks the blocks of these calls and those that they call. Errors in them name the outermost
/// call: `outer`, or of a network's own layers the call itself.
void check_called(const std::vector<Call>& from, const Position& outer, const NetworkFile& file,
                  config::Diagnostics& diagnostics,
                  std::map<std::string, std::vector<Call>>& calls) {
  for (const Call& call : from) {
    if (calls.count(call.block) != 0) continue;
    const Position& where = outer.known() ? outer : call.where;
    const config::Diagnostics::CallScope in_call(diagnostics, where);
    std::vector<Call>& inner = calls[call.block];
    check_list(file.blocks.at(call.block).layers, file, diagnostics, inner);
    check_called(inner, where, file, diagnostics, calls);
  }
}

/// Depth-first search for a cycle of calls; three-coloured by `open` and `done`.
class CircleSearch {
 public:
  CircleSearch(const std::map<std::string, std::vector<Call>>& calls,
               config::Diagnostics& diagnostics)
      : calls_(calls), diagnostics_(diagnostics) {}

  /// True if no cycle is reachable from `block`.
  bool visit(const std::string& block) {
    if (done_.count(block) != 0) return true;
    open_.push_back(block);
    bool clean = true;
    for (const Call& call : calls_.at(block)) {
      const auto begin = std::find(open_.begin(), open_.end(), call.block);
      if (begin != open_.end()) {
        report(call, begin);
        clean = false;
      } else {
        clean = visit(call.block) && clean;
      }
    }
    open_.pop_back();
    done_.insert(block);
    return clean;
  }

 private:
  void report(const Call& call, std::vector<std::string>::const_iterator begin) {
    std::string circle;
    for (auto block = begin; block != open_.cend(); ++block) circle += *block + " -> ";
    diagnostics_.error(call.where, "block '" + call.block + "' calls itself (" + circle +
                                       call.block + "); use repeat: or for: instead");
  }

  const std::map<std::string, std::vector<Call>>& calls_;
  config::Diagnostics& diagnostics_;
  std::vector<std::string> open_;
  std::set<std::string> done_;
};

}  // namespace

Item::Kind item_kind(const std::string& name, const NetworkFile& file) {
  if (name == "act") return Item::Kind::act;
  if (name == "repeat") return Item::Kind::repeat;
  if (name == "for") return Item::Kind::loop;
  if (joins_branches(name)) return Item::Kind::join;
  if (find_op(name) != nullptr) return Item::Kind::op;
  return file.blocks.count(name) != 0 ? Item::Kind::block : Item::Kind::malformed;
}

std::string unknown_layer(const std::string& name, const NetworkFile& file) {
  std::vector<std::string> words = item_words();
  for (const auto& [block, body] : file.blocks) words.push_back(block);
  return "unknown layer '" + name + "'" + config::meaning_or_nearest(name, "layer", words);
}

Item read_item(const config::Node& node, const NetworkFile& file, Diagnostics& diagnostics) {
  Item item;
  node.kind == Kind::map ? read_map(node, file, item, diagnostics)
                         : read_name(node, item, diagnostics);
  if (item.name.empty()) return item;
  item.kind = item_kind(item.name, file);
  if (item.kind == Item::Kind::malformed) {
    diagnostics.error(item.where, unknown_layer(item.name, file));
  }
  check_modifiers(item, diagnostics);
  return item;
}

std::vector<const config::Node*> inner_lists(const Item& item, Diagnostics& diagnostics) {
  if (item.kind == Item::Kind::join) return branch_lists(item, diagnostics);
  if (item.kind == Item::Kind::loop) {
    return {checked_list(item.layers, item.where, "for", diagnostics)};
  }
  if (item.kind != Item::Kind::repeat) return {};
  if (item.value == nullptr || item.value->kind != Kind::map) {
    diagnostics.error(item.where, "repeat: expected {times: ..., layers: [...]}, found " +
                                      (item.value == nullptr ? "nothing" : describe(*item.value)));
    return {nullptr};
  }
  check_repeat(item, diagnostics);
  return {checked_list(item.value->find("layers"), item.where, "repeat", diagnostics)};
}

bool check_items(const NetworkFile& file, config::Diagnostics& diagnostics) {
  std::map<std::string, std::vector<Call>> calls;
  std::vector<Call> top;
  check_list(file.layers, file, diagnostics, top);
  check_called(top, {}, file, diagnostics, calls);
  for (const auto& [name, block] : file.blocks) {
    if (calls.count(name) == 0) check_list(block.layers, file, diagnostics, calls[name]);
  }
  CircleSearch search(calls, diagnostics);
  bool clean = true;
  for (const auto& [name, block] : file.blocks) clean = search.visit(name) && clean;
  return clean;
}

}  // namespace trainyard
