#include "graph/scope.h"

#include <algorithm>
#include <vector>

namespace trainyard {
namespace {

using config::Diagnostics;
using Kind = config::Node::Kind;

void bind_list(const config::Node& values, const Item& call, const Block& block,
               config::Scope& bound, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < values.items.size(); ++i) {
    if (i < block.arguments.size()) {
      bound[block.arguments[i].name] = values.items[i];
      continue;
    }
    diagnostics.error(values.items[i].where,
                      call.name + ": takes " + std::to_string(block.arguments.size()) +
                          " arguments, found " + std::to_string(values.items.size()));
    return;
  }
}

void bind_map(const config::Node& values, const Item& call, const Block& block,
              config::Scope& bound, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const BlockArgument& argument : block.arguments) names.push_back(argument.name);
  for (const config::Entry& entry : values.entries) {
    if (std::find(names.begin(), names.end(), entry.key) != names.end()) {
      bound[entry.key] = entry.value;
      continue;
    }
    diagnostics.error(entry.where, call.name + ": unknown argument '" + entry.key + "'" +
                                       config::suggestion(entry.key, names));
    // The misspelt argument counts as given: one message is enough.
    const std::string meant = config::nearest(entry.key, names);
    if (!meant.empty()) bound.emplace(meant, entry.value);
  }
}

}  // namespace

std::string PathScope::next(const std::string& name) {
  const std::string own = name + std::to_string(++counts_[name]);
  return last_ = parent_.empty() ? own : parent_ + "." + own;
}

config::Scope bind_arguments(const Item& call, const NetworkFile& file, const config::Scope& caller,
                             Diagnostics& diagnostics) {
  const Block& block = file.blocks.at(call.name);
  config::Node values;
  if (call.value != nullptr) values = config::resolved(*call.value, caller, diagnostics);
  if (values.is_scalar() && values.kind != Kind::null) {
    config::Node list;
    list.kind = Kind::list;
    list.items.push_back(values);
    values = list;
  }
  config::Scope bound;
  if (values.kind == Kind::list) bind_list(values, call, block, bound, diagnostics);
  if (values.kind == Kind::map) bind_map(values, call, block, bound, diagnostics);

  config::Scope scope = file.variables;
  for (const BlockArgument& argument : block.arguments) {
    const auto given = bound.find(argument.name);
    if (given != bound.end()) {
      scope[argument.name] = given->second;
    } else if (argument.fallback) {
      scope[argument.name] = config::resolved(*argument.fallback, scope, diagnostics);
    } else {
      diagnostics.missing(call.where, call.name + ": missing argument '" + argument.name + "'");
      scope[argument.name] = config::Node{};
    }
  }
  return scope;
}

}  // namespace trainyard
