#include "run/stored_model.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_identity.h"
#include "checkpoint/tensor_slots.h"
#include "config/file_path.h"
#include "formats/float_types.h"
#include "run/run_folder.h"
#include "run/session/session_model.h"
#include "run/snapshot.h"

namespace trainyard {
namespace {

constexpr const char* kName = "weights.safetensors";

[[noreturn]] void refuse(const std::string& what) { throw checkpoint_error(what); }

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
                   "no epoch of '" + run.string() + "' has been evaluated yet");
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

bool is_something(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The checkpoint folder that the pointer `path`, .../checkpoints/last, names; the folder of
/// checkpoints for its `best`, which is checked there; `path` itself for anything else.
fs::path checkpoint_of_pointer(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "best" && path.parent_path().filename() == "checkpoints") return path.parent_path();
  if (name != "best" && name != "last") return path;
  const std::string pointed = checkpoint_pointer(path.parent_path(), name);
  return pointed.empty() ? path : path.parent_path() / pointed;
}

/// The folder of the run that `path` is or is in.
fs::path run_of(const fs::path& path) {
  const std::string name = "'" + path.string() + "'";
  if (!is_something(path)) {
    refuse_command("no run or checkpoint " + name + config::near_file(path));
  }
  if (is_run_folder(path)) return path;
  std::error_code ignored;
  const bool weights = is_something(path / kManifestName) || path.extension() == ".safetensors";
  constexpr int kMostAbove = 3;  // RUN/checkpoints/NAME/weights.safetensors
  fs::path above = fs::absolute(path, ignored).lexically_normal();
  for (int i = 0; i < kMostAbove; ++i) {
    above = above.parent_path();
    if (is_run_folder(above)) return fs::proximate(above, ignored);
  }
  if (!weights) {
    refuse_command(name +
                   " is not a run folder: it has no config.yaml of a run; nor is it a "
                   "checkpoint of one, with a " +
                   kManifestName);
  }
  throw checkpoint_error(name +
                         " holds weights, but no folder above it is that of a run, which has their "
                         "network, preprocessing and classes; put it back into 'checkpoints' of "
                         "its run, or copy the whole run");
}

/// A run never saves weights that are not finite, so these were changed.
void require_finite(const WeightsFile& weights) {
  for (const NamedTensor& tensor : weights.tensors.tensors()) {
    const std::optional<std::string> found = non_finite_element(tensor);
    if (!found) continue;
    throw checkpoint_error(weights.path.string() + ": '" + tensor.name + "' holds " + *found +
                           "; take the weights of a checkpoint");
  }
}

/// Fills the slots of a model, and collects what does not fit.
class SlotFilling {
 public:
  SlotFilling(const Model& model, const WeightsFile& weights)
      : model_(model),
        weights_(weights),
        type_(stored_type_of(model.memory().type())),
        slots_(weight_slots(model, model.memory().trained())) {}

  /// Throws if anything does not.
  void fill() {
    for (const TensorSlot& slot : slots_) take(slot);
    for (const NamedTensor& tensor : weights_.tensors.tensors()) {
      if (std::ranges::find(slots_, tensor.name, &TensorSlot::name) == slots_.end()) {
        faults_.push_back(tensor.name + ": is not in the network");
      }
    }
    raise_misfits(faults_, weights_.path.string(), "\nare these the weights of another network?");
  }

 private:
  void take(const TensorSlot& slot) {
    const NamedTensor* const tensor = weights_.tensors.find(slot.name);
    if (tensor == nullptr) {
      faults_.push_back(slot.name + ": is not in the file");
    } else if (const std::string fault = shape_fault(slot, *tensor); !fault.empty()) {
      faults_.push_back(fault);
    } else if (!is_float(tensor->type)) {
      faults_.push_back(slot.name + ": has type " + std::string(safetensors_name(tensor->type)) +
                        ", expected " + std::string(safetensors_name(type_)));
    } else {
      put(slot, *tensor);
    }
  }

  void put(const TensorSlot& slot, const NamedTensor& tensor) {
    Queue& queue = model_.compute().queue;
    if (tensor.type == type_) {
      queue.copy_from_host(slot.data, tensor.bytes.data(), slot.bytes);
      return;
    }
    const ConvertedTensor made = converted(tensor, type_);
    queue.copy_from_host(slot.data, made.bytes.data(), slot.bytes);
    if (!made.lost) return;
    faults_.push_back(slot.name + ": is " + std::string(safetensors_name(tensor.type)) +
                      ", which this device can only round to " +
                      std::string(safetensors_name(type_)) + "; use --device reference");
  }

  const Model& model_;
  const WeightsFile& weights_;
  StoredType type_;
  std::vector<TensorSlot> slots_;
  std::vector<std::string> faults_;
};

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

StoredModel open_stored_model(const fs::path& path, std::span<const std::string> overrides,
                              const std::function<void(const std::string&)>& warn) {
  const fs::path run = run_of(path);
  RunConfig config = read_run_config(run / "config.yaml", overrides);
  const std::optional<AverageOptions> average = average_options(config);
  StoredModel stored{.run = run,
                     .config = std::move(config),
                     .weights = read_weights(checkpoint_of_pointer(path)),
                     .averaged = average && average->judged,
                     .statistics = {},
                     .vocabulary = read_vocabulary(run),
                     .samples = read_samples(run)};
  for (const std::string& warning : stored.weights.warnings) warn(warning);
  require_finite(stored.weights);
  const std::optional<LoadedCheckpoint>& checkpoint = stored.weights.checkpoint;
  if (!checkpoint) {
    stored.statistics = read_statistics(run);
    return stored;
  }
  static_cast<void>(id_of_own(*checkpoint, recorded_id(run / "run.json"), run));
  stored.statistics = read_statistics(run, statistics_hash_of(*checkpoint));
  return stored;
}

SamplesRecord samples_of(const StoredModel& stored, const Opening& opening) {
  if (stored.samples) return *stored.samples;
  return record_of(*stored.config.data.train.source->open(opening));
}

void fill_model(Model& model, const StoredModel& stored) {
  SlotFilling(model, stored.weights).fill();
  model.publish_weights(WeightChange::load);
}

std::string text_of(const StoredModel& stored) {
  const std::string file = stored.weights.path.string();
  std::string text = file;
  if (const auto& checkpoint = stored.weights.checkpoint) {
    text = checkpoint->path.string() + " (epoch " + std::to_string(checkpoint->epoch) + ", step " +
           std::to_string(checkpoint->step) + ")";
  }
  return text + (stored.averaged ? ", the average of the weights" : "");
}

std::string title_of(const StoredModel& stored) {
  const auto& checkpoint = stored.weights.checkpoint;
  const fs::path run = fs::absolute(stored.run).lexically_normal();
  const std::string name = run.filename().string();
  const bool numbered = name.find_first_not_of("0123456789") == std::string::npos;
  return (numbered ? run.parent_path().filename() / name : fs::path(name)).string() + ", " +
         (checkpoint ? "epoch " + std::to_string(checkpoint->epoch)
                     : stored.weights.path.filename().string());
}

}  // namespace trainyard
