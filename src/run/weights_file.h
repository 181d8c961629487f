// Trained weights, wherever they are stored.
#pragma once

#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint_files.h"
#include "formats/safetensors.h"

namespace trainyard {

struct WeightsFile {
  std::filesystem::path path;  // of the file itself
  SafetensorsFile tensors;
  std::optional<LoadedCheckpoint> checkpoint = {};  // that has the file, without its files
};

/// Reads a safetensors file, those of a checkpoint folder, or those of a run folder: its best
/// checkpoint, else weights/best.safetensors, else its newest checkpoint, else
/// weights/last.safetensors. Throws Error{checkpoint} that says what was looked for, with the
/// nearest name if `path` does not exist.
[[nodiscard]] WeightsFile read_weights(const std::filesystem::path& path);

}  // namespace trainyard
