// The engine of a convolution: the one chosen before, else the fastest of those that cuDNN
// proposes, or its first.
#pragma once

#include "exec/cudnn/context.h"
#include "exec/cudnn/conv_graph.h"
#include "exec/cudnn/engines.h"

namespace trainyard::cudnn {

/// Everything that a choice depends on beside GPU and version of cuDNN.
[[nodiscard]] std::string choice_key(const ConvGraph& graph, std::int64_t bias,
                                     const EngineRules& rules);

/// The plan to run `graph` with. Where a bias of that many channels is added to the output, graphs
/// that do so on the way compete with plain ones followed by a kernel of ours, unless the output
/// has padding, which a bias must not reach; EnginePlan::choice says which won. Timing runs on
/// random data in memory of its own, a few milliseconds an engine. Throws Error{device} that counts
/// the reasons if no engine is left.
[[nodiscard]] EnginePlan choose_engine(Context& context, const ConvGraph& graph, std::int64_t bias,
                                       const EngineRules& rules);

}  // namespace trainyard::cudnn
