// What a run folder keeps of the training split, so that a model can be used without its data:
// files written once, by the start or, if that died before, by a resume.
//
// statistics.safetensors: they do not change and may be large (a whitening matrix of CIFAR-10 has
// 38 MB); checkpoints have their hash, and a resume takes no others. samples.json: what the samples
// are. vocabulary.json: the vocabulary of tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "data/augment/statistics.h"
#include "data/sets/dataset.h"
#include "data/sets/table_form.h"
#include "data/sets/vocabulary.h"
#include "run/run_folder.h"

namespace trainyard {

/// The hash of all values; "" if there are none.
[[nodiscard]] std::string hash_of(const Statistics& statistics);

/// Writes the file; nothing if there are no values.
void write_statistics(const RunFolder& folder, const Statistics& statistics);

/// The statistics of run folder `run`; none if `hash`, a checkpoint's, is "". Throws
/// Error{checkpoint} if the file is missing, damaged or of another hash.
[[nodiscard]] Statistics read_statistics(const fs::path& run, const std::string& hash);
/// Statistics of run folder `run`, whatever their hash; none without the file. Throws
/// Error{checkpoint} if it is damaged.
[[nodiscard]] Statistics read_statistics(const fs::path& run);

struct SamplesRecord {
  Shape image;             // Dataset::image_shape()
  bool eight_bit = false;  // images, whose values are 0 to 255
  std::int64_t classes = 0;
  std::vector<std::string> class_names;  // in the order of the labels; empty: numbers alone
  std::optional<TableForm> table = {};   // form of the columns that samples are made of
  std::vector<SampleField> fields = {};  // fitted_fields()
  bool operator==(const SamplesRecord&) const = default;
};

[[nodiscard]] SamplesRecord record_of(const Dataset& set);

/// Writes the file unless it is there.
void write_samples(const RunFolder& folder, const Dataset& train);
void replace_samples(const RunFolder& folder, const SamplesRecord& record);

/// Empty for a run from before the file existed. Throws Error{checkpoint} if it is damaged.
[[nodiscard]] std::optional<SamplesRecord> read_samples(const fs::path& run);

/// Writes the file unless it is there; nothing for data without tokens, or whose tokens have no
/// texts.
void write_vocabulary(const RunFolder& folder, const Vocabulary* vocabulary);

/// The vocabulary of run folder `run`; none without the file. Throws Error{data} if it is damaged.
[[nodiscard]] std::optional<Vocabulary> read_vocabulary(const fs::path& run);

/// What all data of run folder `run` follow. Throws as read_samples() and read_vocabulary().
[[nodiscard]] SampleForm read_form(const fs::path& run);

/// Throws Error{checkpoint} if run folder `run` has the file, and it is damaged or has other words
/// than the data's `vocabulary`: the run's weights are of its own tokens.
void require_vocabulary_of_run(const fs::path& run, const Vocabulary* vocabulary);

}  // namespace trainyard
