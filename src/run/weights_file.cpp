#include "run/weights_file.h"

#include <optional>
#include <system_error>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_names.h"
#include "config/near_file.h"
#include "run/run_folder.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kName = "weights.safetensors";

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::checkpoint, what); }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

WeightsFile read_file(const fs::path& path) {
  return {.path = path, .tensors = SafetensorsFile::open(path, ErrorKind::checkpoint)};
}

WeightsFile weights_of(LoadedCheckpoint checkpoint) {
  const auto found = checkpoint.files.find(kName);
  if (found == checkpoint.files.end()) {
    refuse(checkpoint.path.string() + ": has no " + kName);
  }
  WeightsFile weights{.path = checkpoint.path / kName, .tensors = std::move(found->second)};
  checkpoint.files.clear();
  weights.checkpoint = std::move(checkpoint);
  return weights;
}

std::optional<WeightsFile> best_or_last_of(const fs::path& run) {
  const fs::path checkpoints = run / "checkpoints", weights = run / "weights";
  const std::string best = checkpoint_pointer(checkpoints, "best");
  if (!best.empty() && is_there(checkpoints / best)) {
    return weights_of(load_checkpoint(checkpoints / best));
  }
  if (is_there(weights / "best.safetensors")) return read_file(weights / "best.safetensors");
  if (auto newest = load_newest_checkpoint(checkpoints)) return weights_of(std::move(*newest));
  if (is_there(weights / "last.safetensors")) return read_file(weights / "last.safetensors");
  return std::nullopt;
}

/// `folder`, or the run folder that it belongs to by its name.
fs::path run_meant_by(const fs::path& folder) {
  const fs::path plain =
      folder.has_filename() ? folder : folder.parent_path();  // no '/' at the end
  const bool of_run = plain.filename() == "checkpoints" || plain.filename() == "weights";
  return of_run ? plain.parent_path() : plain;
}

}  // namespace

WeightsFile read_weights(const fs::path& path) {
  const std::string name = "'" + path.string() + "'";
  if (!is_there(path)) {
    refuse("no file or folder " + name + " to take weights from" + config::near_file(path));
  }
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return read_file(path);
  if (is_there(path / kManifestName)) return weights_of(load_checkpoint(path));
  const fs::path run = run_meant_by(path);
  if (!is_run_folder(run)) {
    refuse(name + " is neither a checkpoint folder, with a " + kManifestName +
           ", nor a run folder, with the config.yaml of a run");
  }
  if (auto found = best_or_last_of(run)) return std::move(*found);
  refuse("the run '" + run.string() + "' has saved no weights yet");
}

}  // namespace trainyard
