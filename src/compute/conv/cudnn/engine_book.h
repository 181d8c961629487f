// The engines that a run uses, and those chosen before it: in an earlier run, by rank 0, or by
// timing on this machine, which are stored on disk: one file per GPU model and version of cuDNN.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "compute/conv/choice_cache.h"
#include "compute/conv/cudnn/engines.h"
#include "compute/devices/cuda/cuda_executors.h"

namespace trainyard::cudnn {

/// ChoiceCache of engines: "NVIDIA_H200_cudnn-9.19.0.json" in the folder. A key contains the graph
/// with its shapes, strides and types, and the rules.
class EngineCache : public ChoiceCache {
 public:
  /// `folder` holds the files; empty: nothing is stored.
  EngineCache(const std::filesystem::path& folder, const std::string& gpu,
              const std::string& cudnn_version, Warn warn);

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

}  // namespace trainyard::cudnn
