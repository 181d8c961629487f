// The engine of a convolution: the one chosen earlier, else the fastest of those that cuDNN
// proposes, or its first.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/engine_book.h"
#include "compute/conv/cudnn/engine_trial.h"
#include "compute/conv/cudnn/engines.h"

namespace trainyard::cudnn {

/// What engines are chosen with. Library and book must outlive it.
struct EngineSearch {
  const Library& library;
  DescriptorPtr device;  // its properties
  EngineBook& book;
  bool tune = true;  // time the engines that cuDNN proposes; else take the first that runs
  std::function<void()> tick = [] {};  // called before each plan that is made or timed
  std::function<std::unique_ptr<EngineTrial>(const TrialSubject&)> make_trial;
  /// Throws the GPU's own error if it has failed; then the engine is not the cause.
  std::function<void()> check_gpu;
};

/// Everything that a choice depends on besides GPU and version of cuDNN.
[[nodiscard]] std::string choice_key(const ConvGraph& graph, std::int64_t bias,
                                     const EnginePolicy& rules);

/// What the result of a graph takes of the workspace if a kernel of ours adds it to what is there.
[[nodiscard]] std::int64_t result_workspace(const ConvGraph& graph);

/// The plan to run `graph` with. If the graph adds its result and no engine is left that does so,
/// the plan is of one that overwrites it, within the workspace that result_workspace() leaves, and
/// EnginePlan::choice says so: the caller adds. If a bias of that many channels is added to the
/// output, graphs that add it themselves compete with plain ones followed by a kernel of ours,
/// unless the output has padding, to which no bias may be added; EnginePlan::choice says which won.
/// An engine that does not run, or cannot be recorded, is refused. Throws Error{device} that counts
/// the reasons if no engine is left, and the GPU's own error if it is the GPU that fails.
[[nodiscard]] EnginePlan choose_engine(const EngineSearch& search, const ConvGraph& graph,
                                       std::int64_t bias, const EnginePolicy& rules);

}  // namespace trainyard::cudnn
