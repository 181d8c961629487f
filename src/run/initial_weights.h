// Weights that a run begins with instead of drawn ones: `--init` and `--init-skip`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "model/model.h"
#include "run/weights_file.h"

namespace trainyard {

/// What the flags say.
struct InitFlags {
  std::filesystem::path from;     // see read_weights()
  std::vector<std::string> skip;  // patterns of layers and tensors as of `freeze:`
  bool operator==(const InitFlags&) const = default;
};

/// What became of the tensors of file and model, by name.
struct InitReport {
  std::vector<std::string> loaded;
  std::vector<std::string> converted;  // of those, tensors of another float type in the file
  std::vector<std::string> skipped;    // of the file, as the patterns say
  std::vector<std::string> unknown;    // of the file, which the model has not
  std::vector<std::string> left_new;   // of the model, as its initializers drew them
};

/// The weights of the flags, read, and where they went.
struct InitialWeights {
  InitFlags flags;
  /// XXH3-128 of the names, types, shapes and bytes of all tensors that no pattern skips: part of
  /// the hash of a run's config.
  std::string hash;
  std::filesystem::path path;              // of the file that was read
  std::optional<SafetensorsFile> tensors;  // until a model has been filled
  InitReport report;                       // from then on
};

/// Throws as read_weights().
[[nodiscard]] InitialWeights read_initial_weights(const InitFlags& flags);

/// Fills the tensors of the model that the file has and no pattern skips; what was read is freed.
/// Throws Error{checkpoint} with every tensor whose shape differs, or whose values the model's type
/// has not, if there is none to take, or for a pattern that names no tensor.
void initialize_from(Model& model, InitialWeights& weights);

/// What became of the tensors, a line a kind with the first `shown` names. A line feed ends none.
[[nodiscard]] std::string text_of(const InitialWeights& weights, std::size_t shown);
/// The "init" of run.json.
[[nodiscard]] Json json_of(const InitialWeights& weights);

/// Throws Error{command_line} unless the run of `run_json` was begun with these flags. A file that
/// cannot be read, or of a run made before ids, is not asked.
void require_init_of_run(const std::filesystem::path& run_json, const InitFlags& flags);

}  // namespace trainyard
