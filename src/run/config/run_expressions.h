// The expressions of a run file, and its `vars`.
#pragma once

#include "config/diagnostics.h"
#include "config/node.h"

namespace trainyard {

/// The file with its expressions evaluated, and without `vars`, the values of names in them.
/// Left alone are an inline network, which has variables of its own, expressions that are
/// schedules, which have a value at each step, and hooks, where $ is the shell's.
[[nodiscard]] config::Node without_expressions(const config::Node& file,
                                               config::Diagnostics& diagnostics);

}  // namespace trainyard
