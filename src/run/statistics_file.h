// The statistics of a run's training split: statistics.safetensors in its folder, written once,
// since they do not change and may be large (a whitening matrix of CIFAR-10 has 38 MB). Checkpoints
// have their hash: a resume takes no others.
#pragma once

#include <filesystem>
#include <string>

#include "data/augment/statistics.h"
#include "run/run_folder.h"

namespace trainyard {

/// The hash of all values; "" if there are none.
[[nodiscard]] std::string hash_of(const Statistics& statistics);

/// Writes the file; nothing if there are no values.
void write_statistics(const RunFolder& folder, const Statistics& statistics);

/// The statistics of run folder `run`; none if `hash`, a checkpoint's, is "". Throws
/// Error{checkpoint} if the file is missing, damaged or of another hash.
[[nodiscard]] Statistics read_statistics(const std::filesystem::path& run, const std::string& hash);
/// Those of run folder `run`, whatever their hash; none without the file. Throws Error{checkpoint}
/// if it is damaged.
[[nodiscard]] Statistics read_statistics(const std::filesystem::path& run);

}  // namespace trainyard
