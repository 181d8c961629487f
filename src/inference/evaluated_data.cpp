#include "inference/evaluated_data.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "config/diagnostics.h"
#include "config/near_file.h"
#include "data/image_folder.h"
#include "inference/source_options.h"
#include "run/session/session_data.h"
#include "run/session/session_weights.h"
#include "run/session/shared_set.h"
#include "run/vocabulary_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

const SplitConfig& split_named(const RunConfig& run, const std::string& name) {
  return name == "train" ? run.data.train : run.data.val;
}

bool is_split(const std::string& data) { return data == "val" || data == "train"; }

void require_folder(const std::string& data) {
  std::error_code ignored;
  if (fs::is_directory(data, ignored)) return;
  throw Error(ErrorKind::command_line,
              "--data '" + data +
                  "': expected val, train, or a folder with one folder of pictures per class" +
                  (fs::exists(data, ignored) ? "" : config::near_file(data)) +
                  "; other data: --set data.val.KEY=VALUE changes where the validation split is "
                  "read");
}

/// Folders of pictures whose names are the run's classes, with the labels that the run has for
/// them.
std::unique_ptr<Dataset> open_class_folders(const RunConfig& run, const SamplesRecord& samples,
                                            const fs::path& root, const Opening& opening) {
  PictureFiles files = class_folders(root);
  std::vector<std::int32_t> labels;  // of the folders
  for (const std::string& name : files.class_names) {
    const auto found = std::ranges::find(samples.class_names, name);
    if (found == samples.class_names.end()) {
      throw Error(ErrorKind::data, (root / name).string() + ": the run has no class '" + name +
                                       "'" + config::suggestion(name, samples.class_names) +
                                       "; name the folders as the run's classes");
    }
    labels.push_back(static_cast<std::int32_t>(found - samples.class_names.begin()));
  }
  for (PictureFile& file : files.files) file.label = labels[static_cast<std::size_t>(file.label)];
  files.classes = samples.classes;
  files.class_names = samples.class_names;
  return open_pictures(std::move(files), picture_options(run, samples), opening);
}

/// The weights that count in an evaluation, for which the training split is opened.
std::optional<WeightRule> evaluation_weights(const RunConfig& run, RankGroup& ranks,
                                             const Opening& opening) {
  if (!run.weights.any()) return std::nullopt;
  const std::unique_ptr<Dataset> train = open_shared(*run.data.train.source, opening, ranks);
  std::optional<WeightRule> weights = weight_rule(run, *train);
  if (weights && !run.weights.validation) weights = weights->counting();
  return weights;
}

}  // namespace

InferenceData open_evaluated(const StoredModel& stored, const std::string& data, RankGroup& ranks,
                             const Opening& opening) {
  const RunConfig& run = stored.config;
  if (!is_split(data)) require_folder(data);
  const SamplesRecord samples = samples_of(stored, opening);
  InferenceData opened{.set = is_split(data)
                                  ? open_shared(*split_named(run, data).source, opening, ranks)
                                  : open_class_folders(run, samples, data, opening),
                       .pipeline = nullptr,
                       .weights = evaluation_weights(run, ranks, opening)};
  opened.pipeline = pipeline_for(stored, samples, *opened.set);
  require_vocabulary_of_run(stored.run, opened.set->vocabulary());
  return opened;
}

std::string evaluated_text(const StoredModel& stored, const std::string& data) {
  if (!is_split(data)) return "the pictures of " + data;
  return std::string(data == "train" ? "the training" : "the validation") +
         " split of the run (source " +
         std::string(split_named(stored.config, data).source->name()) + ")";
}

}  // namespace trainyard
