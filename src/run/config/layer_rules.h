// What a run says of single layers: `freeze:` and `lr_mult:`.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The run's network at this batch, with its rules for layers: nodes frozen, rates multiplied.
/// Where several patterns give a layer a factor, the last one counts. Layers that share parameters
/// follow the one that owns them. Throws Error{config} with all errors of the network, or of the
/// rules: a pattern that names no layer with parameters, a factor that is no number of at least 0,
/// a closing activation that contradicts the loss, or synchronised batch norm in a run with shards.
[[nodiscard]] Graph build_whole_network(const RunConfig& run, std::int64_t batch);
/// The same as it is trained: without a closing activation that the loss computes.
[[nodiscard]] Graph build_network(const RunConfig& run, std::int64_t batch);

/// True if a softmax or sigmoid that closes the network is computed together with the run's loss,
/// which then reads what the activation would read.
[[nodiscard]] bool loss_computes_closing(const RunConfig& run, const Graph& whole);

/// The activation that a loss on logits has in it; "" for a loss that has none.
[[nodiscard]] std::string_view activation_of(std::string_view loss);

/// What to say of a network whose parameters are all frozen; "" for any other.
[[nodiscard]] std::string frozen_warning(const Graph& network);

/// True if `pattern`, a shell pattern as of fnmatch(3), fits `path` or a path that it lies below.
[[nodiscard]] bool names_layer(const std::string& pattern, const std::string& path);

}  // namespace trainyard
