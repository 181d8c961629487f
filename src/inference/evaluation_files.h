// What an evaluation leaves: its numbers as text and JSON, its tables and images as files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "formats/json.h"
#include "inference/evaluation.h"

namespace trainyard {

/// What was evaluated.
struct EvaluatedModel {
  std::string weights;                    // text_of(StoredModel)
  std::string title;                      // title_of(StoredModel)
  std::string data;                       // evaluated_text()
  std::vector<std::string> changes = {};  // InferenceData::changes
  ViewSet views = ViewSet::none;
};

/// The folder of an evaluation by default: RUN/eval, and below it the name of the checkpoint, if
/// `path` is not the run's folder, and of the data, if they are not its validation split.
[[nodiscard]] fs::path evaluation_folder(const StoredModel& stored, const fs::path& path,
                                         const std::string& data);

/// For people: what was evaluated, the values, and the table of up to 40 classes.
[[nodiscard]] std::string text_of(const Evaluation& evaluation, const EvaluatedModel& of);
/// {weights, data, tta, samples, loss, METRIC..., seconds, classes: [{class, samples, ...}]}; a
/// value that is not finite is null.
[[nodiscard]] Json json_of(const Evaluation& evaluation, const EvaluatedModel& of);

struct EvaluationFiles {
  fs::path folder;
  fs::path gnuplot;  // program, or empty: no image of the confusion matrix
  std::function<void(const std::string&)> warn;
};

/// Writes eval.json, predictions.csv with a row for each sample, with tables classes.csv,
/// confusion.csv and mistakes.csv, and of these confusion.png and mistakes.png; returns the names
/// of the files. Throws Error{disk}.
std::vector<std::string> write_evaluation(const EvaluationFiles& files, const Disk& disk,
                                          const Evaluation& evaluation, const EvaluatedModel& of,
                                          const Dataset& set);

}  // namespace trainyard
