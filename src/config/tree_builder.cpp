#include "config/tree_builder.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/scalars.h"

namespace trainyard::config {
namespace {

// yaml-cpp's tags of scalars without a tag of their own: plain, and quoted or block.
constexpr std::string_view kPlainTag = "?";
constexpr std::string_view kQuotedTag = "!";

}  // namespace

TreeBuilder::TreeBuilder(std::string_view source, std::string name, const FileLimits& limits,
                         Diagnostics& diagnostics)
    : source_(source), name_(std::move(name)), limits_(limits), diagnostics_(diagnostics) {
  root_.where = {name_, 1, 1};
}

Node TreeBuilder::take() { return std::move(root_); }

Position TreeBuilder::position(const YAML::Mark& mark) const {
  return {name_, mark.line + 1, mark.column + 1};
}

void TreeBuilder::stop(const Position& where, const std::string& text) const {
  throw config_error(where.text() + ": " + text);
}

std::string_view TreeBuilder::rest_of_file(const YAML::Mark& mark) const {
  const auto begin = static_cast<std::size_t>(std::max(mark.pos, 0));
  return begin >= source_.size() ? std::string_view() : source_.substr(begin);
}

std::string_view TreeBuilder::rest_of_line(const YAML::Mark& mark) const {
  const std::string_view rest = rest_of_file(mark);
  return rest.substr(0, std::min(rest.find('\n'), rest.size()));
}

void TreeBuilder::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ == 1) return;
  // yaml-cpp also gets here if it stopped in the middle: to it `, a: 1` is an empty document and a
  // rest that its own loader drops.
  const std::string_view rest = rest_of_line(mark);
  if (rest.substr(0, 3) == "---" || rest.substr(0, 3) == "...") {
    stop(position(mark), "a second document begins; a file holds one");
  }
  stop(position(mark), "cannot parse '" + std::string(rest.substr(0, 20)) +
                           "'; a comma, bracket or indentation is out of place here or above");
}

bool TreeBuilder::expects_key() const {
  return !open_.empty() && open_.back().node.kind == Node::Kind::map && !open_.back().has_key;
}

bool TreeBuilder::null_is_written(const YAML::Mark& mark) const {
  const std::string_view rest = rest_of_line(mark);
  return rest.substr(0, 1) == "~" || lower_case(rest.substr(0, 4)) == "null";
}

Position TreeBuilder::null_position(const YAML::Mark& mark) const {
  // For an omitted value yaml-cpp gives the position of the next token.
  if (!null_is_written(mark) && !open_.empty()) {
    return open_.back().has_key ? open_.back().key_where : open_.back().node.where;
  }
  return position(mark);
}

void TreeBuilder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  if (expects_key()) {
    diagnostics_.error(position(mark), "a key is missing before ':'");
  }
  require_colon(mark);
  const bool in_flow_list =
      !open_.empty() && !open_.back().block && open_.back().node.kind == Node::Kind::list;
  if (in_flow_list && !null_is_written(mark)) {
    stop(position(mark), "a list item is missing");
  }
  add(scalar_node("", false, null_position(mark)), anchor, {1, 0, 0});
}

// yaml-cpp treats a line without ':' at the end of a block map as a key without a value, and gives
// the position of the key itself.
void TreeBuilder::require_colon(const YAML::Mark& mark) const {
  if (open_.empty() || !open_.back().block || !open_.back().has_key) return;
  if (position(mark) == open_.back().key_where) {
    stop(position(mark), "a ':' is missing after '" + open_.back().key + "'");
  }
}

// yaml-cpp treats multi-line text as the value of the key above even if it is not indented.
void TreeBuilder::require_indentation(const Position& where) const {
  if (open_.empty() || !open_.back().block || !open_.back().has_key) return;
  const Frame& frame = open_.back();
  if (where.line > frame.key_where.line && where.column <= frame.node.where.column) {
    stop(where, "the value of '" + frame.key + "' must be indented deeper than its key");
  }
}

void TreeBuilder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  const std::string_view rest = rest_of_line(mark);
  const std::string name(rest.substr(0, rest.find_first_of(" ,]}\r")));
  if (found == anchors_.end()) {
    stop(position(mark), "'" + name + "' is inside the value that it names");
  }
  if (expects_key()) stop(position(mark), "'" + name + "' is a key; write the key itself");
  const Anchored& anchored = found->second;
  if (open_.size() + anchored.cost.depth > limits_.depth) {
    stop(position(mark), "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }
  charge(position(mark), anchored.cost);
  if (!open_.empty()) {
    Frame& frame = open_.back();
    frame.deepest = std::max(frame.deepest, open_.size() + anchored.cost.depth);
  }
  add(anchored.node, 0, {});
}

void TreeBuilder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& value) {
  const Position where = position(mark);
  if (value.size() > limits_.scalar_bytes) {
    stop(where, "a text of " + std::to_string(value.size()) + " bytes; at most " +
                    std::to_string(limits_.scalar_bytes) + " are allowed");
  }
  require_indentation(where);
  refuse_tag(mark, tag);
  const bool quoted = tag != kPlainTag;
  if (quoted) require_closed_quote(mark);
  if (!quoted && !expects_key()) {
    const std::string trap = number_trap(value);
    if (!trap.empty()) diagnostics_.error(where, trap);
  }
  // Limits count values, not keys.
  const std::size_t nodes = expects_key() ? 0 : 1;
  add(scalar_node(value, quoted, where), anchor, {nodes, value.size(), 0});
}

// yaml-cpp treats the end of the file as the end of quoted text.
void TreeBuilder::require_closed_quote(const YAML::Mark& mark) const {
  std::string_view rest = rest_of_file(mark);
  // An anchor, a tag and comments may precede.
  while (!rest.empty() && (rest[0] == '&' || rest[0] == '!' || rest[0] == '#')) {
    rest.remove_prefix(std::min(rest.find_first_of(rest[0] == '#' ? "\n" : " \n"), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(" \r\n"), rest.size()));
  }
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return;
  const char quote = rest[0];
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (quote == '"' && rest[i] == '\\') {
      ++i;
    } else if (rest[i] == quote) {
      if (quote == '"' || rest.substr(i + 1, 1) != "'") return;
      ++i;
    }
  }
  stop(position(mark), "this quoted text is not closed");
}

void TreeBuilder::refuse_tag(const YAML::Mark& mark, const std::string& tag) {
  if (tag == kPlainTag || tag == kQuotedTag || tag.empty()) return;
  const std::string_view rest = rest_of_line(mark);
  const std::string written(rest.substr(0, rest.find_first_of(" ,]}\r")));
  diagnostics_.error(position(mark), "the tag '" + (written[0] == '!' ? written : tag) +
                                         "' is not part of the language; remove it");
}

void TreeBuilder::OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                                  YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  open(Node::Kind::list, mark, tag, anchor, style);
}

void TreeBuilder::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value style) {
  open(Node::Kind::map, mark, tag, anchor, style);
}

void TreeBuilder::open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor, YAML::EmitterStyle::value style) {
  const Position where = position(mark);
  if (expects_key()) {
    stop(where,
         std::string("a key is a word; found a ") + (kind == Node::Kind::map ? "map" : "list"));
  }
  Frame frame;
  frame.anchor = anchor;
  frame.block = style == YAML::EmitterStyle::Block;
  if (!frame.block) require_indentation(where);
  refuse_tag(mark, tag);
  if (open_.size() >= limits_.depth) {
    stop(where, "nested deeper than " + std::to_string(limits_.depth) + " levels");
  }
  frame.node.kind = kind;
  frame.node.where = where;
  frame.before = spent_;
  frame.deepest = open_.size() + 1;
  charge(where, {1, 0, 0});
  open_.push_back(std::move(frame));
}

void TreeBuilder::close() {
  Frame frame = std::move(open_.back());
  open_.pop_back();
  if (!open_.empty()) open_.back().deepest = std::max(open_.back().deepest, frame.deepest);
  if (frame.anchor != 0) {
    const Cost cost{spent_.nodes - frame.before.nodes, spent_.bytes - frame.before.bytes,
                    frame.deepest - open_.size()};
    anchors_[frame.anchor] = {frame.node, cost};
  }
  add(std::move(frame.node), 0, {});
}

void TreeBuilder::charge(const Position& where, const Cost& cost) {
  spent_.nodes += cost.nodes;
  spent_.bytes += cost.bytes;
  if (spent_.nodes > limits_.nodes) {
    stop(where, "more than " + std::to_string(limits_.nodes) + " values (aliases count in full)");
  }
  if (spent_.bytes > limits_.bytes) {
    stop(where,
         "more than " + std::to_string(limits_.bytes) + " bytes of text (aliases count in full)");
  }
}

void TreeBuilder::add(Node node, YAML::anchor_t anchor, const Cost& cost) {
  charge(node.where, cost);
  if (anchor != 0) anchors_[anchor] = {node, cost};
  if (open_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = open_.back();
  if (frame.node.kind == Node::Kind::list) {
    frame.node.items.push_back(std::move(node));
  } else if (!frame.has_key) {
    add_key(node);
  } else {
    frame.has_key = false;
    if (frame.dropped) return;
    frame.node.entries.push_back({std::move(frame.key), frame.key_where, std::move(node)});
  }
}

void TreeBuilder::add_key(const Node& key) {
  Frame& frame = open_.back();
  frame.has_key = true;
  frame.key = key.text;
  frame.key_where = key.where;
  frame.dropped = true;
  if (key.text == "<<" && !key.quoted) {
    diagnostics_.error(key.where,
                       "'<<' is not part of the language; a run file takes over another "
                       "one with 'extends: FILE'");
    return;
  }
  if (key.text.empty()) {
    if (key.quoted) diagnostics_.error(key.where, "a key is empty");
    return;
  }
  const auto [found, fresh] = frame.key_line.emplace(key.text, key.where.line);
  if (!fresh) {
    diagnostics_.error(key.where, "duplicate key '" + key.text + "'; first given on line " +
                                      std::to_string(found->second));
    return;
  }
  frame.dropped = false;
}

}  // namespace trainyard::config
