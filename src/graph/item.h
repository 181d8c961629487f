// One item of a list of layers, taken apart.
#pragma once

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"
#include "graph/network_file.h"

namespace trainyard {

/// `name`, `name: value` or `{name: value, if: ..., as: ..., from: ..., share: ...}`; `for` also
/// has `layers`. Pointers into the file's tree, null where a part is not written.
struct Item {
  enum class Kind { malformed, op, join, block, act, repeat, loop } kind = Kind::malformed;
  std::string name;
  Position where;
  const config::Node* value = nullptr;
  const config::Node* condition = nullptr;
  const config::Node* as = nullptr;
  const config::Node* from = nullptr;
  const config::Node* share = nullptr;
  const config::Node* layers = nullptr;  // of `for`
};

/// What `name` stands for in this file; malformed if nothing.
[[nodiscard]] Item::Kind item_kind(const std::string& name, const NetworkFile& file);
/// "unknown layer 'con'; did you mean 'conv'?".
[[nodiscard]] std::string unknown_layer(const std::string& name, const NetworkFile& file);

/// Takes `node` apart; errors go to `diagnostics` and give kind malformed.
[[nodiscard]] Item read_item(const config::Node& node, const NetworkFile& file,
                             config::Diagnostics& diagnostics);

/// The lists of layers inside an item: branches, the body of a repeat or a for. Lists that are
/// missing or no lists are reported.
[[nodiscard]] std::vector<const config::Node*> inner_lists(const Item& item,
                                                           config::Diagnostics& diagnostics);

}  // namespace trainyard
