#include "run/config/run_expressions.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/expression.h"

namespace trainyard {
namespace {

/// Evaluates the expressions of a schedule, but not those that are schedules.
config::Node resolved_schedule(const config::Node& node, const config::Scope& vars,
                               config::Diagnostics& diagnostics) {
  if (node.is_scalar()) return config::resolved(node, vars, diagnostics);
  config::Node tree = node;
  for (config::Node& item : tree.items) item = resolved_schedule(item, vars, diagnostics);
  for (config::Entry& entry : tree.entries) {
    if (entry.key != "expression") entry.value = resolved_schedule(entry.value, vars, diagnostics);
  }
  return tree;
}

/// True if a text with an expression has the name as a word.
bool names(const std::string& text, const std::string& name) {
  if (text.find('$') == std::string::npos) return false;
  const auto ends_word = [&](std::size_t at) {
    return at >= text.size() ||
           (std::isalnum(static_cast<unsigned char>(text[at])) == 0 && text[at] != '_');
  };
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + name.size())) return true;
  }
  return false;
}

/// True if an expression in the node may use the name.
bool uses(const config::Node& node, const std::string& name) {
  const auto in = [&](const config::Node& part) { return uses(part, name); };
  return names(node.text, name) || std::ranges::any_of(node.items, in) ||
         std::ranges::any_of(node.entries, in, &config::Entry::value);
}

/// Takes `vars` out of a run file: the values of names in its expressions.
config::Scope take_vars(config::Node& file, config::Diagnostics& diagnostics) {
  config::Scope scope;
  const auto vars = std::ranges::find(file.entries, "vars", &config::Entry::key);
  if (vars == file.entries.end()) return scope;
  if (vars->value.kind != config::Node::Kind::map) {
    diagnostics.error(vars->where,
                      "'vars' must be a map of names and values, such as {classes: 100}, found " +
                          config::describe(vars->value));
  }
  const std::vector<config::Entry> named = std::move(vars->value.entries);
  file.entries.erase(vars);
  std::vector<std::string> used;
  for (const config::Entry& entry : named) {
    scope[entry.key] = config::resolved(entry.value, {}, diagnostics);
    if (uses(file, entry.key)) used.push_back(entry.key);
  }
  for (const config::Entry& entry : named) {
    if (std::ranges::count(used, entry.key) > 0) continue;
    diagnostics.error(entry.where, "no expression in the run file uses '" + entry.key + "'" +
                                       config::suggestion(entry.key, used));
  }
  return scope;
}

/// A key of the file with its expressions evaluated.
config::Node evaluated(const config::Entry& entry, const config::Scope& vars,
                       config::Diagnostics& diagnostics) {
  if (entry.key == "hooks") return entry.value;
  if (entry.key == "schedule" || entry.key == "lookahead") {
    return resolved_schedule(entry.value, vars, diagnostics);
  }
  if (entry.key != "network") return config::resolved(entry.value, vars, diagnostics);
  config::Node network = entry.value;
  config::Node* const given = network.find("file") == nullptr ? nullptr : network.find("vars");
  if (given != nullptr && !vars.empty()) *given = config::resolved(*given, vars, diagnostics);
  return network;
}

}  // namespace

config::Node without_expressions(const config::Node& file, config::Diagnostics& diagnostics) {
  config::Node tree = file;
  const config::Scope vars = take_vars(tree, diagnostics);
  for (config::Entry& entry : tree.entries) entry.value = evaluated(entry, vars, diagnostics);
  return tree;
}

}  // namespace trainyard
