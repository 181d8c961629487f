// The keys of run files by their paths, for suggestions and completion.
#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace trainyard {

/// A key that a run file can have.
struct KeyPath {
  std::string path;         // "optimizer.sgd.lr"
  std::string type;         // as in config::FieldDescription
  std::string source = "";  // member that has a key next to `source:`
  std::string help = "";
  std::vector<std::string> words = {};  // values of an enum, a family, a boolean
};

/// All of them, in the order of the reference.
[[nodiscard]] const std::vector<KeyPath>& key_paths();

/// `key` if the run file may begin with it, or is a path itself; else the path that ends in it and
/// goes deepest into `run`; null if there is none. Not keys of optimizers, schedules and sources
/// other than those of `run`.
[[nodiscard]] const KeyPath* find_key(const std::string& key, const config::Node& run);

/// As YAML at the top of the file: "optimizer: {sgd: {lr: 0.1}}". `value` is left out ("...") if it
/// is not of the key's type.
[[nodiscard]] std::string yaml_of(const KeyPath& key, const config::Node& value);

/// The end of a message about `entry` of the map `what` of a run file: where `key` belongs; "" if
/// nowhere.
[[nodiscard]] std::string place_text(const std::string& key, const config::Entry& entry,
                                     const std::string& what, const config::Node& run);

}  // namespace trainyard
