// The vocabulary of a run: vocabulary.json in its folder, written once, by the start or, if that
// died before, by a resume.
#pragma once

#include <filesystem>
#include <optional>

#include "data/sets/vocabulary.h"
#include "run/run_folder.h"

namespace trainyard {

/// Writes the file unless it is there; nothing for data without tokens, or whose tokens have no
/// texts.
void write_vocabulary(const RunFolder& folder, const Vocabulary* vocabulary);

/// The vocabulary of run folder `run`; none without the file. Throws Error{data} if it is damaged.
[[nodiscard]] std::optional<Vocabulary> read_vocabulary(const std::filesystem::path& run);

/// Throws Error{checkpoint} if run folder `run` has the file, and it is damaged or has other words
/// than the data's `vocabulary`: the run's weights are of its own tokens.
void require_vocabulary_of_run(const std::filesystem::path& run, const Vocabulary* vocabulary);

}  // namespace trainyard
