// Initial weights of a run from a file instead of random ones: `init`, `--init`, `--init-skip`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "formats/json.h"
#include "model/model.h"
#include "run/stored_model.h"

namespace trainyard {

/// The flags, or the key.
struct InitFlags {
  fs::path from;                  // see read_weights()
  std::vector<std::string> skip;  // patterns of layers and tensors, as in `freeze:`
  bool operator==(const InitFlags&) const = default;
};

/// What happened to the tensors of file and model, by name.
struct InitReport {
  std::vector<std::string> loaded;
  std::vector<std::string> converted;  // names of those with another float type in the file
  std::vector<std::string> skipped;    // names in the file, skipped because of the patterns
  std::vector<std::string> unknown;    // names in the file, not in the model
  std::vector<std::string> left_new;   // names in the model, as drawn by its initializers
};

/// The weights that the flags name, and where they were loaded.
struct InitialWeights {
  InitFlags flags;
  /// XXH3-128 of the names, types, shapes and bytes of all tensors that no pattern skips: part of
  /// the hash of a run's config.
  std::string hash;
  fs::path path;                           // path of the file that was read
  std::optional<SafetensorsFile> tensors;  // until a model has been filled
  InitReport report;                       // from then on
};

/// Throws as read_weights().
[[nodiscard]] InitialWeights read_initial_weights(const InitFlags& flags);

/// Fills the tensors of the model that are in the file and that no pattern skips; then frees what
/// was read. Throws Error{checkpoint} with every tensor whose shape differs, or whose values the
/// model's type cannot represent, if there is no tensor to load, or for a pattern that names none.
void initialize_from(Model& model, InitialWeights& weights);

/// What happened to the tensors, one line per kind with the first `shown` names. No trailing line
/// feed.
[[nodiscard]] std::string text_of(const InitialWeights& weights, std::size_t shown);
/// The "init" of run.json.
[[nodiscard]] Json json_of(const InitialWeights& weights);

/// The weights that the run of `run_json` was started with, read again; none without --init. Throws
/// as read_weights(), and if they have changed.
[[nodiscard]] std::optional<InitialWeights> initial_weights_of_run(const fs::path& run_json);

/// Throws Error{command_line}, which ends in `advice`, unless the run of `run_json` was started
/// with these flags. A file that cannot be read, or of a run from before ids existed, is not
/// checked.
void require_init_of_run(const fs::path& run_json, const InitFlags& flags,
                         const std::string& advice);

/// The number of the names and the first of them, as many as are shown: "2: head.weight,
/// head.bias", "20: a, b, c and 17 more".
[[nodiscard]] std::string first_names(std::span<const std::string> names, std::size_t shown);

}  // namespace trainyard
