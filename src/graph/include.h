// `include:`: blocks from other files.
#pragma once

#include "base/filesystem.h"
#include "config/node.h"

namespace trainyard {

/// The network with the blocks of the files that its `include` names, without that key. An included
/// file holds `blocks` and may include others; a file that is reached twice is read once. Throws
/// Error{config} for missing files, cycles, other keys and blocks of one name.
[[nodiscard]] config::Node with_includes(const config::Node& network);

/// The network of a file, with its includes.
[[nodiscard]] config::Node load_network(const fs::path& path);

/// The network without the included blocks that nothing in it names.
[[nodiscard]] config::Node without_unused_includes(const config::Node& network);

}  // namespace trainyard
