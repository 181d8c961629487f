#include "inference/evaluation_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>

#include "base/filesystem.h"
#include "base/text.h"
#include "data/images/image.h"
#include "data/images/image_sheet.h"
#include "data/sets/dataset.h"
#include "report/class_table.h"
#include "report/plot_script.h"
#include "report/plotter.h"

namespace trainyard {
namespace {

constexpr std::size_t kMostPanels = 4, kMostPoints = 5000;

/// A row for each sample: its target and its output in column `c`.
std::string points(const PredictedSplit& split, std::size_t c, std::size_t width) {
  const std::size_t samples = split.names.size();
  const std::size_t every = (samples + kMostPoints - 1) / kMostPoints;
  std::string block = fmt::format("$points{} << END\n", c + 1);
  for (std::size_t i = 0; i < samples; i += every) {
    const float target = split.numbers[i * width + c], value = split.outputs[i * width + c];
    if (std::isfinite(value)) block += fmt::format("{:.9g} {:.9g}\n", target, value);
  }
  return block + "END\n";
}

/// A gnuplot script that draws a point for each sample, its target along x and the output along y,
/// of at most the first four outputs in a panel each, with the line of equal numbers, below
/// `title`, to the file name of `output`, .png or .svg, preceded by the variable `prefix` if that
/// is set. At most 5,000 samples are drawn, every k-th of more. `split` has targets. It contains
/// its data.
std::string predicted_script(const std::string& title, const PredictedSplit& split,
                             const fs::path& output) {
  const std::size_t width = split.outputs.size() / split.names.size();
  const std::size_t panels = std::min(width, kMostPanels);
  std::string script = "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n";
  for (std::size_t c = 0; c < panels; ++c) script += points(split, c, width);
  script += gnuplot_output(output, 600 * static_cast<int>(panels), 600);
  script += fmt::format(
      "{}unset object 1\nset key off\nset xtics rotate by 30 right\nset multiplot layout 1,{} "
      "title {}\n",
      gnuplot_look(), panels, gnuplot_text(title));
  for (std::size_t c = 0; c < panels; ++c) {
    script += fmt::format(
        "set xlabel {1} textcolor rgb '#555555'\nset ylabel {2} textcolor rgb '#555555'\n"
        "plot $points{0} using 1:1 with lines linecolor rgb '#999999', "
        "$points{0} using 1:2 with points pointtype 7 pointsize 0.4 linecolor rgb '#E24A33'\n",
        c + 1, gnuplot_text(shortened(split.number_names[c])),
        gnuplot_text("predicted " + shortened(split.number_names[c])));
  }
  return script + "unset multiplot\nunset output\n";
}

constexpr std::int64_t kMostCounted = 20, kMostNamed = 60;

/// A row for each cell: predicted class, class, share of the class's samples, count.
std::string cells(const ConfusionMatrix& matrix) {
  std::string block = "$cells << END\n";
  for (std::int64_t label = 0; label < matrix.classes(); ++label) {
    std::int64_t samples = 0;
    for (std::int64_t c = 0; c <= matrix.classes(); ++c) samples += matrix.count(label, c);
    for (std::int64_t c = 0; c < matrix.classes(); ++c) {
      const std::int64_t count = matrix.count(label, c);
      const double share =
          samples == 0 ? 0 : static_cast<double>(count) / static_cast<double>(samples);
      block += fmt::format("{} {} {:.6g} {}\n", c, label, share, count);
    }
    block += '\n';
  }
  return block + "END\n";
}

/// The names of the classes along an axis; of many classes their numbers, as gnuplot chooses.
std::string tics(const std::string& axis, std::int64_t classes,
                 std::span<const std::string> names) {
  if (classes > kMostNamed) return "";
  std::string list;
  for (std::int64_t c = 0; c < classes; ++c) {
    list += fmt::format("{}{} {}", c == 0 ? "" : ", ",
                        gnuplot_text(shortened(name_of_class(names, c))), c);
  }
  return fmt::format("set {}tics ({})\n", axis, list);
}

constexpr std::string_view kAxes = R"(unset grid
unset object 1
set xlabel 'predicted' textcolor rgb '#555555'
set ylabel 'label' textcolor rgb '#555555'
set xrange [-0.5 : classes - 0.5]
set yrange [classes - 0.5 : -0.5]
set cbrange [0 : 1]
set cblabel 'share of the samples of a label' textcolor rgb '#555555'
set palette defined (0 '#ffffff', 0.05 '#fbe3df', 0.5 '#E24A33', 1 '#7a1f12')
set xtics rotate by 45 right
)";

constexpr std::string_view kShades = "plot $cells using 1:2:3 with image notitle";
/// The counts, in white on dark cells; zeros are left out.
constexpr std::string_view kCounts =
    R"(, \
  $cells using 1:2:($4 > 0 && $3 <= 0.4 ? sprintf('%d', $4) : '') with labels textcolor rgb '#333333' font ',10' notitle, \
  $cells using 1:2:($4 > 0 && $3 > 0.4 ? sprintf('%d', $4) : '') with labels textcolor rgb '#ffffff' font ',10' notitle)";

/// The share of samples that are predicted as their class, and their number.
std::string result_text(const ConfusionMatrix& matrix) {
  std::int64_t right = 0, samples = 0;
  for (std::int64_t label = 0; label < matrix.classes(); ++label) {
    right += matrix.count(label, label);
    for (std::int64_t c = 0; c <= matrix.classes(); ++c) samples += matrix.count(label, c);
  }
  return samples == 0 ? "no samples"
                      : fmt::format("accuracy {:.4f}, {}",
                                    static_cast<double>(right) / static_cast<double>(samples),
                                    count_text(samples, "sample"));
}

/// A gnuplot script that draws a row for each class of the labels and a column for each predicted
/// class, shaded by its share of the row's samples, with the counts if there are at most 20
/// classes, below `title` and the accuracy, to the file name of `output`, .png or .svg, preceded by
/// the variable `prefix` if that is set. It contains its data, and can be run by itself next to the
/// plot.
std::string confusion_script(const std::string& title, const ConfusionMatrix& matrix,
                             std::span<const std::string> names, const fs::path& output) {
  const bool svg = lower_case(output.extension().string()) == ".svg";
  const std::int64_t classes = matrix.classes();
  const std::int64_t side = std::clamp<std::int64_t>(360 + 36 * classes, 520, 1200);
  return "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n" + cells(matrix) +
         fmt::format("classes = {}\n", classes) +
         fmt::format(
             "set terminal {} size {},{} font 'DejaVu Sans,11' noenhanced background "
             "'#ffffff'\nset output prefix.{}\n",
             svg ? "svg" : "pngcairo", side + 80, side, gnuplot_text(output.filename().string())) +
         std::string(gnuplot_look()) + "set title " + gnuplot_text(title) + ".\"\\n\"." +
         gnuplot_text(result_text(matrix)) + " noenhanced font ',13'\n" + std::string(kAxes) +
         tics("x", classes, names) + tics("y", classes, names) + std::string(kShades) +
         std::string(classes <= kMostCounted ? kCounts : "") + "\nunset output\n";
}

constexpr std::size_t kMostMistakes = 40, kColumns = 8;
constexpr std::int64_t kMostSide = 160;  // side of an image, pixels

std::string text_below(const Dataset& set, const Mistake& mistake,
                       std::span<const std::string> names) {
  const std::string file = fs::path(set.file(mistake.sample)).filename().string();
  return fmt::format("{}\n>{}\n{:.4f}{}{}", name_of_class(names, mistake.label),
                     name_of_class(names, mistake.predicted), mistake.probability,
                     file.empty() ? "" : "\n", file);
}

/// At most 40 of the mistakes in reading order, each sample as its source gives it over its
/// label, what was predicted instead, the probability of that, and its file's name if it has one.
/// None if there are no mistakes, or samples are no images of 1 or 3 channels with a height of more
/// than 1.
std::optional<Image> mistake_sheet(const Dataset& set, std::span<const Mistake> mistakes,
                                   std::span<const std::string> names) {
  const std::int64_t channels = set.image_shape()[0];
  const bool drawable = (channels == 1 || channels == 3) && set.image_shape()[1] != 1;
  if (mistakes.empty() || !drawable) return std::nullopt;
  std::vector<FloatImage> images;
  ValueRange range;
  for (const Mistake& mistake : mistakes.first(std::min(kMostMistakes, mistakes.size()))) {
    images.push_back(image_of(set, mistake.sample));
    range.take(images.back().values);
  }
  if (set.eight_bit()) range = {.least = 0, .most = 255};
  std::vector<SheetRow> rows;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i % kColumns == 0) rows.emplace_back();
    rows.back().push_back({colored(images[i], range), text_below(set, mistakes[i], names)});
  }
  return image_sheet(rows, kMostSide);
}

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
  if (of.views != ViewSet::none) {
    text += fmt::format("mean of {} views of each (--tta {})\n", views_of(of.views).size(),
                        config::word_of(of.views));
  }
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
  if (of.views != ViewSet::none) json["tta"] = config::word_of(of.views);
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
