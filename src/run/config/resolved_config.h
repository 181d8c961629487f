// A run's config with every default explicit and the network inlined.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/difference.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The resolved config: every default explicit, the network inlined; can be run as it is.
[[nodiscard]] std::string resolved_yaml(const RunConfig& config);

/// XXH3-128 of a resolved config and of the weights that `--init` gave (InitialWeights::hash, or
/// ""): equal runs have equal hashes.
[[nodiscard]] std::string config_hash(std::string_view resolved, std::string_view weights);

/// The differences between two resolved configs.
[[nodiscard]] std::vector<config::Difference> config_differences(const RunConfig& before,
                                                                 const RunConfig& after);

}  // namespace trainyard
