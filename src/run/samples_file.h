// What the samples of a run are: samples.json in its folder, written once, by the start or, if that
// died before, by a resume, so that its model can be used without its data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/sets/dataset.h"
#include "run/run_folder.h"

namespace trainyard {

struct SamplesRecord {
  Shape image;             // Dataset::image_shape()
  bool eight_bit = false;  // pictures, whose values are 0 to 255
  std::int64_t classes = 0;
  std::vector<std::string> class_names;  // in the order of the labels; empty: numbers alone
  bool operator==(const SamplesRecord&) const = default;
};

[[nodiscard]] SamplesRecord record_of(const Dataset& set);

/// Writes the file unless it is there.
void write_samples(const RunFolder& folder, const Dataset& train);
void replace_samples(const RunFolder& folder, const SamplesRecord& record);

/// Empty for a run from before the file existed. Throws Error{checkpoint} if it is damaged.
[[nodiscard]] std::optional<SamplesRecord> read_samples(const std::filesystem::path& run);

}  // namespace trainyard
