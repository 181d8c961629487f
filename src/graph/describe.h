// The network language for `train schema`: the keys of a network map, from the ops' declarations.
#pragma once

#include <vector>

#include "config/fields.h"
#include "config/schema.h"

namespace trainyard {

/// profile, vars, input, defaults (the keys of every op), blocks, outputs, layers (the ops and
/// structures; blocks add names).
[[nodiscard]] std::vector<config::FieldDescription> describe_network(
    config::Profile profile = config::Profile::keras2);

}  // namespace trainyard
