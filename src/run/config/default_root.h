// The folder of data sets that a run file names without `root`.
#pragma once

#include <string>

#include "config/node.h"

namespace trainyard {

/// Writes `root: FOLDER` into `data.train` and `data.val` of a run file's map if they name a source
/// whose `root` has a default and give none. An empty `folder` changes nothing.
void put_default_root(config::Node& run, const std::string& folder);

}  // namespace trainyard
