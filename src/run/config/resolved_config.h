// A run's config with every default explicit and the network inlined.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The resolved config: every default explicit, the network inlined; can be run as it is.
[[nodiscard]] std::string resolved_yaml(const RunConfig& config);

/// The same with paths as they were typed: what equal runs have in common, wherever their files
/// are.
[[nodiscard]] std::string typed_yaml(const RunConfig& config);

/// XXH3-128 of a typed_yaml() and of the weights that `--init` gave (InitialWeights::hash, or
/// ""), without the keys that no result depends on: runs of equal results have equal hashes.
[[nodiscard]] std::string config_hash(std::string_view config, std::string_view weights);

/// The differences between two resolved configs, or with paths as they were typed.
[[nodiscard]] std::vector<config::Difference> config_differences(const RunConfig& before,
                                                                 const RunConfig& after);
[[nodiscard]] std::vector<config::Difference> typed_differences(const RunConfig& before,
                                                                const RunConfig& after);

/// What `overrides` drop of a run file by naming another member: "optimizer.sgd with its lr,
/// momentum".
[[nodiscard]] std::vector<std::string> replaced_by(std::span<const std::string> overrides,
                                                   const std::filesystem::path& path);

}  // namespace trainyard
