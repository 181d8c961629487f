#include "inference/evaluated_data.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/filesystem.h"
#include "config/file_path.h"
#include "data/sets/class_numbering.h"
#include "data/sets/image_list.h"
#include "inference/source_options.h"
#include "run/config/resolved_config.h"
#include "run/session/session_weights.h"
#include "run/session/shared_set.h"
#include "run/training_files.h"

namespace trainyard {
namespace {

const SplitConfig& split_named(const RunConfig& run, const std::string& name) {
  return name == "train" ? run.data.train : run.data.val;
}

bool is_split(const std::string& data) { return data == "val" || data == "train"; }

void require_folder(const std::string& data) {
  std::error_code ignored;
  if (fs::is_directory(data, ignored)) return;
  refuse_command("--data '" + data +
                 "': expected val, train, or a folder with one folder of images per class" +
                 (fs::exists(data, ignored) ? "" : config::near_file(data)) +
                 "; other data: --set data.val.KEY=VALUE changes where the validation split is "
                 "read");
}

/// Folders of images, one for each class.
DatasetPtr open_class_folders(const RunConfig& run, const SamplesRecord& samples,
                              const fs::path& root, const Opening& opening) {
  return open_images(class_folders(root, Links::follow, opening), image_options(run, samples),
                     opening);
}

/// The weights that count in an evaluation, for which the training split is opened.
std::optional<ClassWeightPolicy> evaluation_weights(const RunConfig& run,
                                                    const ClassNumbering& numbering,
                                                    RankGroup& ranks, const Opening& opening) {
  if (!run.weights.any()) return std::nullopt;
  const DatasetPtr train = numbered_as(open_shared(*run.data.train.source, opening, ranks),
                                       numbering, "the training split");
  std::optional<ClassWeightPolicy> weights = class_weight_policy(run, *train);
  if (weights && !run.weights.validation) weights = weights->counting();
  return weights;
}

/// Whether the splits are those of the run's config, not others by --set.
bool reads_own_splits(const StoredModel& stored) {
  const RunConfig own = read_run_config(stored.run / "config.yaml", {});
  return std::ranges::none_of(
      config_differences(own, stored.config), [](const config::Difference& difference) {
        return difference.key == "seed" || difference.key.starts_with("data.train") ||
               difference.key.starts_with("data.val");
      });
}

/// The changes that the flag allows.
std::vector<std::string> judged_changes(const StoredModel& stored, const std::string& data,
                                        const Dataset& set, const DataCheck& check,
                                        const Opening& opening) {
  const bool train = data == "train";
  const DataFacts known = recorded_facts(stored.run);
  SplitFacts now = facts_of(set);
  std::vector<std::string> changes = {
      split_change(train ? known.train : known.val, now, check.all_files)};
  std::erase(changes, "");
  for (std::string& change : changes) {
    change = (train ? "training split: " : "validation split: ") + change;
  }
  judge_changes(changes, stored.run.string(),
                "evaluate on them as they are now with --changed-data", check, opening.warn);
  return changes;
}

}  // namespace

InferenceData open_evaluated(const StoredModel& stored, const std::string& data, RankGroup& ranks,
                             const Opening& given, const DataCheck& check) {
  const RunConfig& run = stored.config;
  Opening opening = given;
  opening.form = read_form(stored.run);
  if (!is_split(data)) require_folder(data);
  const SamplesRecord samples = samples_of(stored, opening);
  const ClassNumbering numbering{
      .names = samples.class_names, .classes = samples.classes, .of = "the run"};
  Opening of_data = opening;
  of_data.may_lack_classes = true;
  auto set = is_split(data) ? open_shared(*split_named(run, data).source, of_data, ranks)
                            : open_class_folders(run, samples, data, of_data);
  std::vector<std::string> changes;
  if (is_split(data) && ranks.rank() == 0 && reads_own_splits(stored)) {
    changes = judged_changes(stored, data, *set, check, opening);
  }
  InferenceData opened{.set = numbered_as(std::move(set), numbering, "'" + data + "'"),
                       .pipeline = nullptr,
                       .weights = evaluation_weights(run, numbering, ranks, opening),
                       .changes = std::move(changes)};
  require_labels(run, *opened.set, "'" + data + "'");
  opened.pipeline = pipeline_for(stored, samples, *opened.set);
  require_vocabulary_of_run(stored.run, opened.set->vocabulary());
  return opened;
}

std::string evaluated_text(const StoredModel& stored, const std::string& data) {
  if (!is_split(data)) return "the images of " + data;
  return std::string(data == "train" ? "the training" : "the validation") +
         " split of the run (source " +
         std::string(split_named(stored.config, data).source->name()) + ")";
}

}  // namespace trainyard
