// Trained weights, wherever they are stored, and a trained network as runs store it: what
// evaluation, prediction and export begin with.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "checkpoint/checkpoint_files.h"
#include "data/augment/statistics.h"
#include "data/sets/vocabulary.h"
#include "formats/safetensors.h"
#include "model/model.h"
#include "run/config/run_config.h"
#include "run/training_files.h"

namespace trainyard {

struct WeightsFile {
  fs::path path;  // path of the file itself
  SafetensorsFile tensors;
  std::optional<LoadedCheckpoint> checkpoint =
      {};                                  // checkpoint that has the file, without its files
  std::vector<std::string> warnings = {};  // why it is not the one that `best` names
};

/// Reads a safetensors file, those of a checkpoint folder, or those of a run folder: the checkpoint
/// of its best epoch, or the newest one if no epoch has been judged; without any checkpoint
/// weights/best.safetensors, else weights/last.safetensors. Warns whenever that is not what
/// checkpoints/best names. Throws Error{checkpoint} that says what was looked for, with the nearest
/// name if `path` does not exist, and if the checkpoint of the best epoch is lost or damaged.
[[nodiscard]] WeightsFile read_weights(const fs::path& path);

/// Weights with what is needed to use them without the data that they were trained on.
struct StoredModel {
  fs::path run;           // its folder
  RunConfig config;       // the run's, with the overrides
  WeightsFile weights;    // weights that the run evaluates
  bool averaged = false;  // the copy is the average of the trained weights
  Statistics statistics;  // statistics of the training split; empty if `preprocess` needs none
  std::optional<Vocabulary> vocabulary;  // vocabulary of its tokens, if they have texts
  /// The training split's; none for a run from before it was recorded: see samples_of().
  std::optional<SamplesRecord> samples;
};

/// Opens `path`: a run folder (see read_weights() for its weights), or a checkpoint folder, one of
/// the pointers `best` and `last` beside it, or a safetensors file, for which the folder of its run
/// is the nearest one above. `overrides` are of --set; `warn` gets a line for each damaged
/// checkpoint that was passed over, and if the weights are not those that the pointer `best` names.
/// Throws Error{command_line} if there is nothing at `path`, or what is there is of no run;
/// Error{checkpoint} for weights without their run's folder, of another run, damaged or not finite;
/// Error{config}.
[[nodiscard]] StoredModel open_stored_model(const fs::path& path,
                                            std::span<const std::string> overrides,
                                            const std::function<void(const std::string&)>& warn);

/// What the samples of the model's run are. Without a record opens its training split: throws as
/// DatasetSource::open().
[[nodiscard]] SamplesRecord samples_of(const StoredModel& stored, const Opening& opening);

/// Fills the weights and running statistics of `model`, whose config is that of `stored`. Throws
/// Error{checkpoint} with every tensor that is missing, is not the network's, has another shape, or
/// has values that the model's type cannot represent.
void fill_model(Model& model, const StoredModel& stored);

/// "best checkpoint of epoch 10", "average of the weights in FILE": a line for people.
[[nodiscard]] std::string text_of(const StoredModel& stored);
/// The same in short, for titles: NAME/0001, epoch 3, or FOLDER, epoch 3.
[[nodiscard]] std::string title_of(const StoredModel& stored);

}  // namespace trainyard
