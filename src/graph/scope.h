// Names and arguments while a network is expanded.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/expression.h"
#include "graph/graph.h"
#include "graph/item.h"

namespace trainyard {

/// Generates layer paths under one parent: name + ordinal among the parent's children of that name,
/// from 1.
class PathScope {
 public:
  explicit PathScope(std::string parent = {}) : parent_(std::move(parent)) {}
  /// "stage2.unit3" for the third unit under stage2.
  [[nodiscard]] std::string next(const std::string& name);
  /// The last result of next().
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  std::string parent_;
  std::string last_;
  std::map<std::string, int> counts_;
};

/// An item named by `as:`.
struct NamedItem {
  ValueId value = -1;  // its output; -1: unknown, after an error
  std::string path;    // "" for an item without one: repeat, for
  Position where;
};
using ItemNames = std::map<std::string, NamedItem>;

/// Matches the value of a block call (nothing, a scalar, a list or a map; evaluated in `caller`)
/// with the block's arguments, and returns the scope of its body: the file's variables and the
/// arguments. Surplus, unknown and missing arguments are reported.
[[nodiscard]] config::Scope bind_arguments(const Item& call, const NetworkFile& file,
                                           const config::Scope& caller,
                                           config::Diagnostics& diagnostics);

}  // namespace trainyard
