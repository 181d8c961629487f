// The network language for `train schema`: keys of a network map, from the ops' own declarations.
#pragma once

#include <vector>

#include "config/fields.h"
#include "config/schema.h"

namespace trainyard {

/// profile, vars, input, defaults (the keys of every op), blocks, layers (the ops and structures;
/// blocks add names of their own).
[[nodiscard]] std::vector<config::FieldDescription> describe_network(
    config::Profile profile = config::Profile::keras2);

}  // namespace trainyard
