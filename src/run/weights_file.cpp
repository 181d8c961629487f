#include "run/weights_file.h"

#include <optional>
#include <system_error>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/manifest.h"
#include "config/near_file.h"
#include "run/best_checkpoint.h"
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
  weights.warnings = std::move(checkpoint.warnings);
  weights.checkpoint = std::move(checkpoint);
  return weights;
}

/// `weights`, with a line that says why they are taken.
WeightsFile because(WeightsFile weights, const std::string& reason) {
  weights.warnings.push_back(reason + "; taken: " + weights.path.string());
  return weights;
}

[[noreturn]] void refuse_lost(const fs::path& run, std::int64_t epoch) {
  const std::string name = run.string();
  refuse("the checkpoint of the best epoch of '" + name + "', " + std::to_string(epoch) +
         ", is missing or damaged; name the weights to take: '" + name + "/checkpoints/last' " +
         "or, as they were when the run last completed, '" + name + "/weights/best.safetensors'");
}

WeightsFile weights_of_best(const fs::path& run, const BestCheckpoint& best) {
  const fs::path checkpoints = run / "checkpoints";
  if (best.epoch == 0) {
    return because(weights_of(*load_newest_checkpoint(checkpoints)),
                   "no epoch of '" + run.string() + "' has been judged yet");
  }
  if (!best.checkpoint) refuse_lost(run, best.epoch);
  WeightsFile weights = weights_of(load_checkpoint(checkpoints / best.checkpoint->file_name));
  const std::string named = checkpoint_pointer(checkpoints, "best");
  if (named == best.checkpoint->file_name) return weights;
  return because(std::move(weights), "'" + (checkpoints / "best").string() + "' names " +
                                         (named.empty() ? "no checkpoint" : named) +
                                         ", but the best epoch is " + std::to_string(best.epoch) +
                                         ", as after a run that was killed");
}

std::optional<WeightsFile> best_or_last_of(const fs::path& run) {
  const fs::path checkpoints = run / "checkpoints";
  if (const auto best = best_checkpoint(checkpoints)) return weights_of_best(run, *best);
  // Throws if there are some, all of them damaged.
  static_cast<void>(load_newest_checkpoint(checkpoints));
  for (const char* name : {"best.safetensors", "last.safetensors"}) {
    const fs::path file = run / "weights" / name;
    if (!is_there(file)) continue;
    return because(read_file(file), "'" + run.string() + "' has no checkpoints");
  }
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
