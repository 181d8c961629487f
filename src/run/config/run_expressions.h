// The expressions of a run file.
#pragma once

#include "config/diagnostics.h"
#include "config/node.h"

namespace trainyard {

/// Evaluates the run's own expressions, but not those of an inline network, which has its own
/// variables, nor those that are schedules: they have a value at each step. Hooks are commands, in
/// which $ is the shell's.
[[nodiscard]] config::Node without_expressions(const config::Node& file,
                                               config::Diagnostics& diagnostics);

}  // namespace trainyard
