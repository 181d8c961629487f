// The engines chosen by timing, stored on disk: one file per GPU model and version of cuDNN.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "exec/cudnn/engine_choice.h"

namespace trainyard::cudnn {

/// A file of choices by key. A key contains everything that a choice depends on besides GPU and
/// version: the graph with its shapes, strides and types, and the rules. A file that cannot be
/// read, is damaged, or belongs to another GPU gives one warning and counts as empty: engines are
/// timed again, and the file is rewritten.
class EngineCache {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// `folder` holds the files; empty: nothing is stored.
  EngineCache(std::filesystem::path folder, std::string gpu, std::string cudnn_version, Warn warn);

  [[nodiscard]] std::optional<EngineChoice> find(const std::string& key) const;
  /// Remembers a choice and its time, and marks the cache as changed.
  void keep(const std::string& key, const EngineChoice& choice, double microseconds);
  /// Drops a choice that cuDNN no longer accepts, with a warning.
  void forget(const std::string& key, const std::string& reason);
  /// Writes the file if anything changed, including the choices that other processes have written
  /// since. A failed write gives one warning and is not retried: only time is lost.
  void save();

  /// "NVIDIA_H200_cudnn-9.19.0.json" in the folder.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  struct Entry {
    EngineChoice choice;
    double microseconds = 0;
  };
  using Entries = std::map<std::string, Entry>;
  [[nodiscard]] Entries read() const;
  [[nodiscard]] Entries parse(const std::string& text) const;

  std::string gpu_, cudnn_version_;
  std::filesystem::path path_;
  Warn warn_;
  Entries entries_;
  bool changed_ = false;
  bool refused_ = false;  // by the disk: writing failed
};

}  // namespace trainyard::cudnn
