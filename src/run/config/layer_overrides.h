// The overrides of single layers in a run file: `freeze:`, `freeze_statistics:` and `lr_mult:`.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The run's network at this batch, with its overrides of layers applied: frozen nodes, batch
/// norms with fixed statistics, learning rate multipliers. If several patterns give a layer a
/// factor, the last one counts. Layers that share parameters follow the one that owns them. Throws
/// Error{config} with all errors of the network, or of the overrides (also those of
/// parameter_overrides.h): a pattern that names no layer with parameters, or for
/// `freeze_statistics` with running statistics, a factor that is not a number of at least 0, a
/// closing activation that contradicts the loss, or synchronised batch norm in a run with shards.
[[nodiscard]] Graph build_whole_network(const RunConfig& run, std::int64_t batch);
/// The same as it is trained: without a closing activation that the loss computes.
[[nodiscard]] Graph build_network(const RunConfig& run, std::int64_t batch);

/// True if the network's closing softmax or sigmoid is computed as part of the run's loss, which
/// then reads the input of the activation.
[[nodiscard]] bool loss_computes_closing(const RunConfig& run, const Graph& whole);

/// The activation that a loss on logits includes; "" for a loss without one.
[[nodiscard]] std::string_view activation_of(std::string_view loss);

/// A warning for a network whose parameters are all frozen; "" for any other.
[[nodiscard]] std::string frozen_warning(const Graph& network);

/// True if `pattern`, a shell pattern as in fnmatch(3), matches `path` or a path above it.
[[nodiscard]] bool names_layer(const std::string& pattern, const std::string& path);

}  // namespace trainyard
