#include "inference/evaluation_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "data/images/image_sheet.h"
#include "inference/confusion_plot.h"
#include "inference/predicted_plot.h"
#include "report/plotter.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShown = 40;  // classes in the text

Json classes_json(const ClassTables& tables) {
  Json list = Json::array();
  for (std::size_t c = 0; c < tables.rows.size(); ++c) {
    const ClassRow& row = tables.rows[c];
    list.push_back({{"class", name_of_class(tables.names, static_cast<std::int64_t>(c))},
                    {"samples", row.samples},
                    {"predicted", row.predicted},
                    {"right", row.right},
                    {"precision", number_or_null(row.precision)},
                    {"recall", number_or_null(row.recall)},
                    {"f1", number_or_null(row.f1)},
                    {"auc", number_or_null(row.auc)}});
  }
  return list;
}

/// predictions.csv; the predicted classes are those that the tables are made of.
std::string predictions_text(const Evaluation& evaluation) {
  const PredictedSplit& split = *evaluation.predictions;
  if (!evaluation.tables) return predictions_csv(split);
  const ClassTables& tables = *evaluation.tables;
  return predictions_csv(split, tables.predictions, tables.names, std::ssize(tables.rows));
}

/// Draws a plot of the data in the file `table`; false, with a warning, if that is not possible.
bool draw(const EvaluationFiles& files, const Disk& disk, const std::string& table,
          const std::string& script, const fs::path& output) {
  if (files.gnuplot.empty()) {
    files.warn(missing_gnuplot_warning(table));
    return false;
  }
  const std::string complaint = draw_plot(disk, files.gnuplot, script, output);
  if (!complaint.empty()) {
    files.warn(output.filename().string() + " was not drawn: " + complaint);
  }
  return complaint.empty();
}

bool draw_confusion(const EvaluationFiles& files, const Disk& disk, const ClassTables& tables,
                    const EvaluatedModel& of) {
  const fs::path output = files.folder / "confusion.png";
  return draw(files, disk, "confusion.csv",
              confusion_script(of.title, tables.matrix, tables.names, output), output);
}

/// Draws the predictions of a regression; of targets that are all 0 or 1 there is nothing to see.
bool draw_predicted(const EvaluationFiles& files, const Disk& disk, const PredictedSplit& split,
                    const EvaluatedModel& of) {
  const auto mark = [](float number) { return number == 0 || number == 1; };
  if (std::ranges::all_of(split.numbers, mark)) return false;
  const fs::path output = files.folder / "predicted.png";
  return draw(files, disk, "predictions.csv", predicted_script(of.title, split, output), output);
}

}  // namespace

fs::path evaluation_folder(const StoredModel& stored, const fs::path& path,
                           const std::string& data) {
  fs::path folder = stored.run / "eval";
  std::error_code ignored;
  if (!fs::equivalent(path, stored.run, ignored)) {
    const auto& checkpoint = stored.weights.checkpoint;
    folder /= checkpoint ? checkpoint->path.filename() : path.stem();
  }
  if (data == "val") return folder;
  const fs::path plain = fs::path(data).lexically_normal();
  return folder / (plain.has_filename() ? plain : plain.parent_path()).filename();
}

std::string text_of(const Evaluation& evaluation, const EvaluatedModel& of) {
  std::string text =
      fmt::format("{}\non {}, {}\n", of.weights, of.data, count_text(evaluation.samples, "sample"));
  for (std::size_t i = 0; i < evaluation.values.size(); ++i) {
    const EvaluatedValue& value = evaluation.values[i];
    text += fmt::format("{}{}: {}", i == 0 ? "" : " - ", value.name, fixed_text(value.value, 4));
  }
  text += '\n';
  if (!evaluation.tables) return text;
  const ClassTables& tables = *evaluation.tables;
  return text + (tables.rows.size() > kMostShown ? "" : classes_text(tables.rows, tables.names));
}

Json json_of(const Evaluation& evaluation, const EvaluatedModel& of) {
  Json json{{"weights", of.weights}, {"data", of.data}, {"samples", evaluation.samples}};
  for (const EvaluatedValue& value : evaluation.values)
    json[value.name] = number_or_null(value.value);
  json["seconds"] = evaluation.seconds;
  if (!of.changes.empty()) json["data_changes"] = of.changes;
  if (evaluation.tables) json["classes"] = classes_json(*evaluation.tables);
  return json;
}

std::vector<std::string> write_evaluation(const EvaluationFiles& files, const Disk& disk,
                                          const Evaluation& evaluation, const EvaluatedModel& of,
                                          const Dataset& set) {
  disk.make_folders(files.folder);
  std::vector<std::string> written{"eval.json"};
  disk.replace_file(files.folder / "eval.json", json_text(json_of(evaluation, of)));
  if (evaluation.predictions) {
    disk.replace_file(files.folder / "predictions.csv", predictions_text(evaluation));
    written.emplace_back("predictions.csv");
    if (draw_predicted(files, disk, *evaluation.predictions, of)) {
      written.emplace_back("predicted.png");
    }
  }
  if (!evaluation.tables) return written;
  const ClassTables& tables = *evaluation.tables;
  for (const TextFile& file : csv_files(tables, set)) {
    disk.replace_file(files.folder / file.name, file.text);
    written.push_back(file.name);
  }
  if (draw_confusion(files, disk, tables, of)) written.emplace_back("confusion.png");
  if (const auto sheet = mistake_sheet(set, tables.mistakes, tables.names)) {
    disk.replace_file(files.folder / "mistakes.png", png_of_image(*sheet));
    written.emplace_back("mistakes.png");
  }
  return written;
}

}  // namespace trainyard
