// The engines chosen by timing, stored on disk: one file per GPU model and version of cuDNN.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "compute/conv/choice_cache.h"
#include "compute/conv/cudnn/engine_choice.h"

namespace trainyard::cudnn {

/// ChoiceCache of engines. A key contains the graph with its shapes, strides and types, and the
/// rules.
class EngineCache {
 public:
  using Warn = ChoiceCache::Warn;

  /// `folder` holds the files; empty: nothing is stored.
  EngineCache(const std::filesystem::path& folder, const std::string& gpu,
              const std::string& cudnn_version, Warn warn);

  [[nodiscard]] std::optional<EngineChoice> find(const std::string& key) const;
  void keep(const std::string& key, const EngineChoice& choice, double microseconds) {
    cache_.keep(key, json_of(choice), microseconds);
  }
  void forget(const std::string& key, const std::string& reason) { cache_.forget(key, reason); }
  void save() { cache_.save(); }

  /// "NVIDIA_H200_cudnn-9.19.0.json" in the folder.
  [[nodiscard]] const std::filesystem::path& path() const { return cache_.path(); }

 private:
  ChoiceCache cache_;
};

}  // namespace trainyard::cudnn
