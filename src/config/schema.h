// Reference text and JSON Schema, from the declarations (Fields in describe mode).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::config {

/// Description of one key. Nested maps and families contain their own fields.
struct FieldDescription {
  std::string key;
  std::string help;
  std::string type;          // "integer", "number", "boolean", "text", "pair", "list of ...",
                             // "word", "map", "one of", "list of members", "selected" (members
                             // whose keys are next to this one), "word or pair", "tree", "items"
                             // and "branches": a list, or lists, of items of the one open family at
                             // the top (layers within layers), "sizes or map": a list of integers
                             // or a map
  std::string default_text;  // as it would be written; "" for required or absent
  bool required = false;
  bool rest = false;  // in positional form it takes all remaining values
  double minimum = 0, maximum = 0;
  bool has_minimum = false, has_maximum = false, exclusive_minimum = false;
  bool feature = false;            // an optional part: false, no and off leave it out
  bool others = false;             // true for every key that the map's other fields do not name
  std::vector<std::string> words;  // type "word"
  std::vector<FieldDescription> fields;  // type "map"
  bool keys_only = false;                // type "map": no positional form
  struct Member;
  std::vector<Member> members;  // families
  bool open = false;            // families: other names are allowed (a network's blocks)
  std::vector<FieldDescription>
      adjacent_keys;  // families: keys next to a member's name (if, as, from, share)

  bool operator==(const FieldDescription& other) const;
};

struct FieldDescription::Member {
  std::string name;
  std::string help;
  std::vector<FieldDescription> fields;

  bool operator==(const Member& other) const = default;
};

/// The fields, none of them required: of a file that may have them from one that it extends.
[[nodiscard]] std::vector<FieldDescription> inheritable(std::vector<FieldDescription> fields);

/// Draft-07 JSON Schema (text) of a map with these fields. Expressions (`$...`) are allowed for
/// every scalar, positional forms for every member. `part`: a key that a file may have in place of
/// all required ones (the blocks that networks include); "": none.
[[nodiscard]] std::string json_schema(const std::vector<FieldDescription>& fields,
                                      std::string_view title, std::string_view part = "");
/// The same as a Markdown reference, in which a repeated map or family refers to its first section.
[[nodiscard]] std::string reference_text(const std::vector<FieldDescription>& fields,
                                         std::string_view title);

}  // namespace trainyard::config
