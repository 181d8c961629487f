#include "run/config/run_expressions.h"

#include "config/expression.h"

namespace trainyard {
namespace {

/// Evaluates the expressions of a schedule, but not those that are schedules.
config::Node resolved_schedule(const config::Node& node, config::Diagnostics& diagnostics) {
  if (node.is_scalar()) return config::resolved(node, {}, diagnostics);
  config::Node tree = node;
  for (config::Node& item : tree.items) item = resolved_schedule(item, diagnostics);
  for (config::Entry& entry : tree.entries) {
    if (entry.key != "expression") entry.value = resolved_schedule(entry.value, diagnostics);
  }
  return tree;
}

}  // namespace

config::Node without_expressions(const config::Node& file, config::Diagnostics& diagnostics) {
  config::Node tree = file;
  for (config::Entry& entry : tree.entries) {
    if (entry.key == "network" || entry.key == "hooks") continue;
    entry.value = entry.key == "schedule" ? resolved_schedule(entry.value, diagnostics)
                                          : config::resolved(entry.value, {}, diagnostics);
  }
  return tree;
}

}  // namespace trainyard
