// The engine of a convolution: the one chosen earlier, else the fastest of those that cuDNN
// proposes, or its first. Engines are kept that a run uses, or that were chosen before it: in an
// earlier run, by rank 0, or by timing on this machine, which are stored on disk: one file per GPU
// model and version of cuDNN.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/filesystem.h"
#include "compute/conv/choice_cache.h"
#include "compute/conv/cudnn/conv_graph.h"
#include "compute/conv/cudnn/engine_trial.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/devices/cuda/cuda_executors.h"

namespace trainyard::cudnn {

/// ChoiceCache of engines: "NVIDIA_H200_cudnn-9.19.0.json" in the folder. A key contains the graph
/// with its shapes, strides and types, and the rules.
class EngineCache : public ChoiceCache {
 public:
  /// `folder` holds the files; empty: nothing is stored.
  EngineCache(const fs::path& folder, const std::string& gpu, const std::string& cudnn_version,
              Warn warn);

  [[nodiscard]] std::optional<EngineChoice> find(const std::string& key) const;
  void keep(const std::string& key, const EngineChoice& choice, double microseconds) {
    ChoiceCache::keep(key, json_of(choice), microseconds);
  }
};

/// Keys are those of choose_engine().
class EngineBook {
 public:
  /// Takes the engines, the cache's folder, the GPU's name, `tune` and `warn` from `settings`.
  /// Throws Error{data} if the engines do not have the form that chosen() writes.
  EngineBook(const CudaExecutorSettings& settings, const std::string& cudnn_version);

  /// The plan that an executor of this run uses for the key. Equal layers share it: plans of
  /// engines that are compiled at run time are slow to make.
  [[nodiscard]] std::optional<EnginePlan> used(const std::string& key) const;
  /// The earlier choice for a key. Throws Error{device} if rank 0 chooses and it has none.
  [[nodiscard]] std::optional<EngineChoice> known(const std::string& key) const;
  /// A known choice does not work here: it is dropped with a warning, or, if it is rank 0's,
  /// Error{device} is thrown.
  void reject(const std::string& key, const std::string& reason);
  /// Remembers what an executor uses.
  void use(const std::string& key, const EnginePlan& plan) { used_[key] = plan; }
  /// Stores a timed choice, also on disk, so that it survives a run that ends early.
  void keep(const std::string& key, const EngineChoice& choice, double microseconds);
  /// The engines used so far, as a JSON object.
  [[nodiscard]] std::string chosen() const;

 private:
  bool tune_, follows_;
  std::function<void(const std::string&)> warn_;
  EngineCache cache_;
  std::map<std::string, EngineChoice> earlier_;
  std::map<std::string, EnginePlan> used_;
};

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
