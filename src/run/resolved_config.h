// A run's config with every default explicit and the network inlined.
#pragma once

#include <string>
#include <vector>

#include "config/difference.h"
#include "run/run_config.h"

namespace trainyard {

/// The resolved config: every default explicit, the network inlined, runs again as it is.
[[nodiscard]] std::string resolved_yaml(const RunConfig& config);

/// XXH3-128 of the resolved config: equal runs have equal hashes.
[[nodiscard]] std::string config_hash(const RunConfig& config);

/// What differs between two resolved configs.
[[nodiscard]] std::vector<config::Difference> config_differences(const RunConfig& before,
                                                                 const RunConfig& after);

}  // namespace trainyard
