// Checks of a network file that need no expansion; they include blocks that are never called.
#pragma once

#include "config/diagnostics.h"
#include "graph/network_file.h"

namespace trainyard {

/// Reports malformed items and unknown layers in `layers` and all blocks, and blocks that call
/// themselves. Returns false if a block does: such a file cannot be expanded.
[[nodiscard]] bool check_items(const NetworkFile& file, config::Diagnostics& diagnostics);

}  // namespace trainyard
