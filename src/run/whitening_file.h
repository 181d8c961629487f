// The whitening matrix of a run: statistics.safetensors in its folder, written once, since it is
// large (38 MB for CIFAR-10). Checkpoints have its hash.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/run_folder.h"

namespace trainyard {

/// Writes the file for a matrix [d, d]; nothing if it is empty.
void write_whitening(const RunFolder& folder, const std::vector<float>& matrix);

/// The matrix of run folder `run`; empty if `hash`, a checkpoint's, is "". Throws Error{checkpoint}
/// if the file is missing, damaged or of another hash.
[[nodiscard]] std::vector<float> read_whitening(const std::filesystem::path& run,
                                                const std::string& hash);

}  // namespace trainyard
