// One parsed item of a list of layers.
#pragma once

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"
#include "graph/network_file.h"

namespace trainyard {

/// `name`, `name: value` or `{name: value, if: ..., as: ..., from: ..., share: ...}`; `for` also
/// has `layers`. Pointers into the file's tree; null if a part is absent.
struct Item {
  enum class Kind { malformed, op, join, block, act, repeat, loop } kind = Kind::malformed;
  std::string name;
  Position where;
  const config::Node* value = nullptr;
  const config::Node* condition = nullptr;
  const config::Node* as = nullptr;
  const config::Node* from = nullptr;
  const config::Node* share = nullptr;
  const config::Node* layers = nullptr;  // layers of `for`
};

/// The kind of item that `name` denotes in this file; malformed if none.
[[nodiscard]] Item::Kind item_kind(const std::string& name, const NetworkFile& file);
/// "unknown layer 'con'; did you mean 'conv'?".
[[nodiscard]] std::string unknown_layer(const std::string& name, const NetworkFile& file);

/// Parses `node`; errors go to `diagnostics` and give kind malformed.
[[nodiscard]] Item read_item(const config::Node& node, const NetworkFile& file,
                             config::Diagnostics& diagnostics);

/// The lists of layers inside an item: branches, the body of a repeat or a for. Missing and
/// malformed lists are reported.
[[nodiscard]] std::vector<const config::Node*> inner_lists(const Item& item,
                                                           config::Diagnostics& diagnostics);

}  // namespace trainyard
