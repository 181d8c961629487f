// The state of a Fields; used only by fields*.cpp.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "config/foreign_words.h"
#include "config/schema.h"

namespace trainyard::config {

/// One declaration as the reference shows it.
struct Declaration {
  std::string_view key;
  std::string_view help;
  std::string type;
  std::string default_text;
  Limits limits;
  std::vector<std::string> words;
};

struct Fields::State {
  // Marks for the next declaration, which consumes them.
  struct Next {
    bool required = false;
    bool optional = false;
    bool without_default = false;
    bool rest = false;
    bool feature = false;
    bool others = false;
    std::string_view wanted;  // what a text must say
  };

  const Node* node = nullptr;
  const Node* defaults = nullptr;
  std::string what;
  Profile profile = Profile::keras2;
  Diagnostics* diagnostics = nullptr;  // null in describe mode
  Position where;                      // position of the key that holds the map, or of the map
  Next next;
  std::vector<std::string> declared;
  std::vector<std::string> missing;
  std::deque<Node> made;  // lists of values that a rest() took, bodies of bare names
  bool positional = false;
  bool taken_rest = false;
  std::size_t rest_begin = 0;   // index of the first value that a rest() took
  bool unknown_member = false;  // a failed select() or keys_only(): finish() checks no keys
  bool finished = false;

  // Read mode: the settled values, defaults included, and the parent that finish() passes them to.
  Node settled;
  State* parent = nullptr;
  std::string parent_key;   // key of the parent's map
  std::string member_name;  // name in a family, "" for a nested map
  bool in_list = false;     // the parent's key holds a list of members
  bool assumed = false;     // an absent map read as an empty one: missing keys are no error

  // Describe mode.
  std::vector<FieldDescription> descriptions;
  std::vector<FieldDescription>* sink = nullptr;  // where finish() puts them
  bool* keys_only_sink = nullptr;
  int depth = 0;

  [[nodiscard]] bool describing() const { return diagnostics == nullptr; }
  /// The explicit value, else that of the defaults, else null.
  [[nodiscard]] const Node* value_of(std::string_view key) const;
  [[nodiscard]] const Node* explicit_value(std::string_view key) const;
  /// Registers the key; returns its value, or null if it is absent or in describe mode.
  const Node* take(const Declaration& declaration);
  void describe(const Declaration& declaration, const Next& marks);
  /// Records the settled value of a key.
  void settle(std::string_view key, Node value);
  /// Passes the settled map to the parent.
  void settle_in_parent();
  /// Makes `body` pass its settled map to this key.
  void adopt(Fields& body, std::string_view key, const std::string& member, bool list);
  const Node* remaining();
  /// A list of this value alone.
  const Node& list_of(const Node& value);
  void wrong(const Node& value, std::string_view key, const std::string& wanted,
             std::string hint = "") const;
  [[nodiscard]] std::string inside() const;
  /// "data.train.root" for the key `root` of this map.
  [[nodiscard]] std::string path_of(std::string_view key) const;
  /// The file that was read, which may extend others.
  [[nodiscard]] const std::string& file() const;
  void report_unknown(const Node& map);
  /// The row of another program's word in this map, or in all members of its family.
  [[nodiscard]] const ForeignWord* foreign_key(std::string_view word) const;
  /// What an unknown key may mean, for the end of its message.
  std::string meaning_of(const Entry& entry);
  /// Reports a key of the map that resembles the missing `key`, before the other keys are known.
  void report_misspelt(std::string_view key);
  void report_surplus();
  void report_missing();
  /// The name and body of `name`, `name: value`; empty after an error.
  struct Item {
    std::string name;
    const Node* body;
    Position where;
  };
  std::optional<Item> item_of(const Node& value, std::string_view key, Names names);
  /// Reports a family's map with two keys: two members, or a key that belongs in the first one's
  /// map.
  void refuse_second(const Node& value, std::string_view key, Names names) const;
  std::optional<std::size_t> index_of(const Node& value, const std::string& word,
                                      const Position& position, std::string_view key,
                                      Names names) const;
  [[nodiscard]] std::unique_ptr<Fields> body_of(const Item& item) const;
};

}  // namespace trainyard::config
