// What the executors of one GPU share.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "exec/cudnn/cuda_executors.h"
#include "exec/cudnn/engine_cache.h"
#include "exec/cudnn/engine_choice.h"
#include "exec/cudnn/engines.h"
#include "exec/cudnn/library.h"
#include "exec/cudnn/matmul.h"

namespace trainyard::cudnn {

/// Shared by a factory and its executors, because a plan may outlive the factory that made its
/// executors.
class Context {
 public:
  explicit Context(CudaExecutorSettings settings);

  [[nodiscard]] const CudaExecutorSettings& settings() const { return settings_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_.get(); }
  [[nodiscard]] const DescriptorPtr& properties() const { return properties_; }
  /// Opened when first asked for.
  [[nodiscard]] const MatmulLibrary& matmul_library();
  [[nodiscard]] EngineRules rules(DType storage, bool tf32) const;

  /// The plan that an executor of this run uses for the key. Equal layers share it: plans of
  /// engines that are compiled at run time are slow to make.
  [[nodiscard]] std::optional<EnginePlan> used(const std::string& key) const;
  /// The choice for a key that an earlier run or the engine cache made.
  [[nodiscard]] std::optional<EngineChoice> known(const std::string& key) const;
  /// Remembers what an executor uses.
  void use(const std::string& key, const EnginePlan& plan) { used_[key] = plan; }
  /// Remembers a choice that was timed.
  void keep(const std::string& key, const EngineChoice& choice, double microseconds);
  /// Forgets a known choice that cuDNN no longer accepts, with a warning.
  void forget(const std::string& key, const std::string& reason);
  void keep_engines() { cache_.save(); }
  [[nodiscard]] std::string chosen_engines() const;

 private:
  CudaExecutorSettings settings_;
  cudaStream_t stream_;
  Library library_;
  LibraryHandle handle_;
  DescriptorPtr properties_;
  std::optional<MatmulLibrary> matmul_library_;
  EngineCache cache_;
  std::map<std::string, EngineChoice> earlier_;  // of settings.engines
  std::map<std::string, EnginePlan> used_;
};
using ContextPtr = std::shared_ptr<Context>;

}  // namespace trainyard::cudnn
