// Trained weights, wherever they are stored.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_files.h"
#include "formats/safetensors.h"

namespace trainyard {

struct WeightsFile {
  std::filesystem::path path;  // of the file itself
  SafetensorsFile tensors;
  std::optional<LoadedCheckpoint> checkpoint = {};  // that has the file, without its files
  std::vector<std::string> warnings = {};           // why it is not the one that `best` names
};

/// Reads a safetensors file, those of a checkpoint folder, or those of a run folder: the checkpoint
/// of its best epoch, or the newest one if no epoch has been judged; without any checkpoint
/// weights/best.safetensors, else weights/last.safetensors. Warns whenever that is not what
/// checkpoints/best names. Throws Error{checkpoint} that says what was looked for, with the nearest
/// name if `path` does not exist, and if the checkpoint of the best epoch is lost or damaged.
[[nodiscard]] WeightsFile read_weights(const std::filesystem::path& path);

}  // namespace trainyard
