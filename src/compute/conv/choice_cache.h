// Choices made by timing, stored on disk for all runs on a machine.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"
#include "formats/json.h"

namespace trainyard {

/// How keys of choices for a processor begin. A run's choices may be those of another device than
/// the one that it is continued or evaluated on; each device takes its own.
inline constexpr std::string_view kProcessorKey = "cpu: ";

/// Where a run's earlier choices come from. One of an earlier run that no longer works is replaced,
/// with a warning; with those of rank 0 a convolution without a usable one is an error: ranks with
/// other engines than rank 0's would compute other bits.
enum class EngineSource { earlier_run, first_rank };

/// The earlier choices (ExecutorFactory::choices(), or empty) for processors, or those for GPUs.
/// Throws Error{data} that names their source for another form, as `choice_of` does for a choice.
template <class Choice>
[[nodiscard]] std::map<std::string, Choice> earlier_choices(
    const std::string& text, EngineSource source, bool of_processors,
    Choice (*choice_of)(const Json& json, const std::string& source)) {
  const std::string name = source == EngineSource::first_rank ? "the engines of rank 0"
                                                              : "the engines of the earlier run";
  std::map<std::string, Choice> choices;
  if (text.empty()) return choices;
  const Json json = parse_json(text, {.name = name, .kind = ErrorKind::data});
  if (!json.is_object()) throw data_error(name + ": not an object");
  for (const auto& [key, value] : json.items()) {
    if (key.starts_with(kProcessorKey) == of_processors) choices[key] = choice_of(value, name);
  }
  return choices;
}

/// A file of choices by key. A key contains everything that a choice depends on besides what the
/// file is of. A file that cannot be read, is damaged, or is of something else gives one warning
/// and counts as empty: engines are timed again, and the file is rewritten.
class ChoiceCache {
 public:
  using Warn = std::function<void(const std::string&)>;
  struct Settings {
    fs::path path;      // empty: nothing is stored
    std::string owner;  // what the choices are for: "NVIDIA H200 with cuDNN 9.19.0"
    /// The same as keys and values of the file: {"gpu", "NVIDIA H200"}, {"cudnn", "9.19.0"}.
    std::vector<std::pair<std::string, std::string>> identity;
    /// Throws Error{data} that names `source` if the JSON object is not a choice.
    std::function<void(const Json& choice, const std::string& source)> check;
    Warn warn;
  };

  explicit ChoiceCache(Settings settings);

  /// An object that `check` accepts.
  [[nodiscard]] std::optional<Json> find(const std::string& key) const;
  /// Remembers a choice and its time, and marks the cache as changed.
  void keep(const std::string& key, Json choice, double microseconds);
  /// Drops a choice that is no longer accepted, with a warning.
  void forget(const std::string& key, const std::string& reason);
  /// Writes the file if anything changed, including the choices that other processes have written
  /// since. A failed write gives one warning and is not retried: only time is lost.
  void save();

  [[nodiscard]] const fs::path& path() const { return settings_.path; }
  /// The letters, digits, '-' and '.' of a name, '_' for the rest: a name of a file.
  [[nodiscard]] static std::string file_name(std::string name);

 private:
  using Entries = std::map<std::string, Json>;  // with their times
  [[nodiscard]] Entries read() const;
  [[nodiscard]] Entries parse(const std::string& text) const;

  Settings settings_;
  Entries entries_;
  bool changed_ = false;
  bool refused_ = false;  // the disk has refused it: writing failed
};

}  // namespace trainyard
