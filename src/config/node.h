// The tree of a YAML file: YAML 1.2 core scalars, every value with its position.
// And differences between trees.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard::config {

struct Entry;

/// One value. Plain data, copied freely (a file holds at most 10,000 nodes).
struct Node {
  enum class Kind { null, boolean, integer, real, text, list, map };

  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;    // kind integer
  double real = 0;             // kinds real and integer
  std::string text;            // any scalar as written
  bool quoted = false;         // a quoted scalar is always text
  std::vector<Node> items;     // kind list
  std::vector<Entry> entries;  // kind map, in the order of the file
  Position where;
  std::string typed_path;  // an absolute, settled path as it was written
  std::string expression;  // expression that gave this scalar, as it was written

  [[nodiscard]] bool is_scalar() const { return kind != Kind::list && kind != Kind::map; }
  [[nodiscard]] bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  /// The value of `key` in a map, or null.
  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] Node* find(std::string_view key);
};

struct Entry {
  std::string key;
  Position where;
  Node value;
};

/// The found value as messages name it: "text 'two'", "number 3", "true", "nothing", "a list", "a
/// map".
[[nodiscard]] std::string describe(const Node& node);

/// The tree with paths as they were written.
[[nodiscard]] Node with_typed_paths(Node tree);

/// True if kinds, values and the order of keys are equal; positions and spelling do not matter.
[[nodiscard]] bool same_value(const Node& a, const Node& b);

/// A scalar node of YAML 1.2's core schema from its text, as the loader creates it: decimal
/// integers, floats, true/false, null/~/empty; `010` and the like become a text node that the
/// loader rejects. Also used for expression results and `--set` values.
[[nodiscard]] Node scalar_node(std::string text, bool quoted, Position where);

/// The tree as YAML (block style, two spaces) that reads to the same values.
[[nodiscard]] std::string to_yaml(const Node& node);

/// A value that differs; "" if a tree does not have it.
struct Difference {
  std::string key;     // "optimizer.sgd.lr", "augment[0].hflip"
  std::string before;  // as one line
  std::string after;
};

/// The value under a key of maps ("optimizer.sgd.lr") as one line; "" if the tree does not have it.
[[nodiscard]] std::string value_at(const Node& tree, std::string_view key);

/// A value that is not the same in all of several trees.
struct Variation {
  std::string key;                  // as in Difference
  std::vector<std::string> values;  // each tree's, as one line; "" if it does not have it
};

/// In the order of the first tree, then what only the second has, and so on. Lists of different
/// length vary as a whole, as does a map that only one tree has.
[[nodiscard]] std::vector<Variation> variations(std::span<const Node* const> trees);

/// The variations of two trees.
[[nodiscard]] std::vector<Difference> differences(const Node& before, const Node& after);

/// "optimizer.sgd.lr: 0.05 -> 0.001"; long values are truncated.
[[nodiscard]] std::string text_of(const Difference& difference);

}  // namespace trainyard::config
