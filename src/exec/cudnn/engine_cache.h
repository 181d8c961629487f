// The engines that were chosen by timing, kept on disk: one file a GPU model and version of cuDNN.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "exec/cudnn/engine_choice.h"

namespace trainyard::cudnn {

/// A file of choices by key. A key says everything that a choice depends on beside GPU and version:
/// the graph with its shapes, strides and types, and the rules. A file that cannot be read, is
/// damaged, or is another GPU's gives one warning and counts as empty: engines are timed again, and
/// the file is written anew.
class EngineCache {
 public:
  using Warn = std::function<void(const std::string&)>;

  /// `folder` holds the files; empty: nothing is kept.
  EngineCache(std::filesystem::path folder, std::string gpu, std::string cudnn_version, Warn warn);

  [[nodiscard]] std::optional<EngineChoice> find(const std::string& key) const;
  /// Remembers a choice and its time, and marks the cache as changed.
  void keep(const std::string& key, const EngineChoice& choice, double microseconds);
  /// Forgets a choice that cuDNN no longer accepts, with a warning.
  void forget(const std::string& key, const std::string& reason);
  /// Writes the file if anything changed, choices of other processes since then included. A disk
  /// that does not take it gives a warning, once, and is asked no more: only time is lost.
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
  bool refused_ = false;  // by the disk
};

}  // namespace trainyard::cudnn
