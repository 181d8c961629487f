#include "run/stored_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "checkpoint/manifest.h"
#include "checkpoint/run_identity.h"
#include "checkpoint/tensor_slots.h"
#include "config/near_file.h"
#include "formats/float_types.h"
#include "run/run_folder.h"
#include "run/session/session_model.h"
#include "run/snapshot.h"
#include "run/statistics_file.h"
#include "run/vocabulary_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

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
    throw Error(ErrorKind::command_line, "no run or checkpoint " + name + config::near_file(path));
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
    throw Error(ErrorKind::command_line,
                name +
                    " is not a run folder: it has no config.yaml of a run; nor is it a "
                    "checkpoint of one, with a " +
                    kManifestName);
  }
  throw Error(ErrorKind::checkpoint,
              name +
                  " holds weights, but no folder above it is that of a run, which has their "
                  "network, preprocessing and classes; put it back into 'checkpoints' of its "
                  "run, or copy the whole run");
}

/// A run never saves weights that are not finite, so these were changed.
void require_finite(const WeightsFile& weights) {
  for (const NamedTensor& tensor : weights.tensors.tensors()) {
    const std::optional<std::string> found = non_finite_element(tensor);
    if (!found) continue;
    throw Error(ErrorKind::checkpoint, weights.path.string() + ": '" + tensor.name + "' holds " +
                                           *found + "; take the weights of a checkpoint");
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
