// The run file's key `hooks`: commands of the user's that a run starts.
#pragma once

#include <optional>
#include <string>

#include "config/fields.h"
#include "report/hooks.h"

namespace trainyard {

void declare(config::Fields& fields, HookCommands& hooks);

/// What a verb says that trains nothing: "hooks: epoch, end: shell commands that a run starts, not
/// this"; "" without commands.
[[nodiscard]] std::string hooks_text(const std::optional<HookCommands>& hooks);

}  // namespace trainyard
