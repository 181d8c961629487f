// Evaluation and prediction with a trained run: their results agree, on any number of ranks.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <map>
#include <mutex>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/text.h"
#include "data/images/image_sheet.h"
#include "inference/evaluated_data.h"
#include "inference/evaluation.h"
#include "inference/evaluation_files.h"
#include "inference/prediction.h"
#include "inference/prediction_inputs.h"
#include "rank_sessions.h"
#include "trained_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kImageClasses = 10;
const std::vector<std::string> kImageNames{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

/// `each` images [3, 12, 12] of each class: a brightness for the class, and noise.
void write_images(const fs::path& root, std::int64_t each) {
  std::uint32_t noise = 1;
  for (std::int64_t c = 0; c < kImageClasses; ++c) {
    const fs::path folder = root / kImageNames[static_cast<std::size_t>(c)];
    fs::create_directories(folder);
    for (std::int64_t i = 0; i < each; ++i) {
      Image image({12, 12}, 3);
      for (std::int64_t k = 0; k < 12 * 12 * 3; ++k) {
        noise = noise * 1664525u + 1013904223u;
        image.row(0)[k] = static_cast<std::uint8_t>(15 * c + (noise >> 24) / 4 * (1 + k % 2));
      }
      std::ofstream(folder / (std::to_string(1000 + i) + ".png"), std::ios::binary)
          << png_of_image(image);
    }
  }
}

std::string images_run(const fs::path& root) {
  return R"(name: images
network:
  input: [3, 12, 12]
  layers: [{conv: [8, 3]}, bn, relu, max_pool: 2, dense: 10, softmax]
data:
  train: {source: image_folder, root: )" +
         (root / "train").string() + R"(}
  val: {source: image_folder, root: )" +
         (root / "val").string() + R"(}
  preprocess: [{scale: 0.01}, {mean_image: train}]
  workers: 0
batch: {total: 48}
loss: cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.01}}
epochs: 2
threads: 1
)";
}

/// A trained run on 200 images, and 1,000 others.
struct ImageRun {
  ImageRun() : root(folder.path()), run(folder / "run") {
    write_images(root / "train", 20);
    write_images(root / "val", 100);
    test::train_into_folder(images_run(root), run);
  }
  [[nodiscard]] StoredModel stored() const {
    return open_stored_model(run, {}, [](const std::string&) {});
  }
  TemporaryFolder folder;
  fs::path root, run;
};

const ImageRun& image_run() {
  static const ImageRun made;  // trained once for all cases
  return made;
}

Evaluation evaluated(const ImageRun& made, RankGroup& ranks, const std::string& data = "val") {
  const StoredModel stored = made.stored();
  SessionDevice device = inference_device(stored, {}, ranks);
  const InferenceData opened = open_evaluated(stored, data, ranks, {.seed = 42});
  return evaluate_stored(stored, device, ranks, opened, {.data = data, .top = 3});
}

/// The outputs for all images below `root`, [n, 10], on rank 0.
std::vector<float> predicted(const ImageRun& made, RankGroup& ranks, const fs::path& root) {
  const StoredModel stored = made.stored();
  SessionDevice device = inference_device(stored, {}, ranks);
  const auto inputs = image_inputs({.paths = {root.string()}, .texts = {}});
  const InferenceData opened = open_inputs(stored, samples_of(stored, {}), inputs, {});
  std::vector<float> outputs;
  predict_stored(stored, device, ranks, opened, {}, [&](std::span<const float> rows) {
    outputs.insert(outputs.end(), rows.begin(), rows.end());
  });
  return outputs;
}

double value_named(const Evaluation& evaluation, const std::string& name) {
  const auto found = std::ranges::find(evaluation.values, name, &EvaluatedValue::name);
  REQUIRE(found != evaluation.values.end());
  return found->value;
}

/// Values and tables, every bit of them.
std::string bits_of(const Evaluation& evaluation) {
  std::string text;
  for (const EvaluatedValue& value : evaluation.values) {
    text += value.name + " " + std::to_string(std::bit_cast<std::uint64_t>(value.value)) + "\n";
  }
  const ClassTables& tables = *evaluation.tables;
  text += classes_csv(tables.rows, tables.names) + confusion_csv(tables.matrix, tables.names) +
          mistakes_csv(tables.mistakes, tables.names);
  return text;
}

}  // namespace

TEST_CASE("predictions on 1,000 images are those that an evaluation counts") {
  const ImageRun& made = image_run();
  RankGroup alone({});
  const Evaluation evaluation = evaluated(made, alone);
  const std::vector<float> outputs = predicted(made, alone, made.root / "val");
  const StoredModel stored = made.stored();
  const SamplesRecord samples = samples_of(stored, {});
  const PredictionForm form = prediction_form(stored, samples);
  REQUIRE(outputs.size() == 10000);
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
  std::vector<Prediction> predictions;
  for (std::int64_t i = 0; i < 1000; ++i) {
    predictions.push_back(
        prediction_of(std::span(outputs).subspan(static_cast<std::size_t>(i * 10), 10), form, 3));
    ++counts[{i / 100, predictions.back().classes.front().index}];
  }
  std::int64_t right = 0;
  for (std::int64_t label = 0; label < kImageClasses; ++label) {
    right += counts[{label, label}];
    for (std::int64_t c = 0; c < kImageClasses; ++c) {
      CHECK(evaluation.tables->matrix.count(label, c) == counts[{label, c}]);
    }
  }
  CHECK(right > 150);  // it has learned something
  CHECK(right < 1000);
  CHECK(value_named(evaluation, "accuracy") == static_cast<double>(right) / 1000);
  REQUIRE_FALSE(evaluation.tables->mistakes.empty());
  for (const Mistake& mistake : evaluation.tables->mistakes) {
    const PredictedClass& first =
        predictions[static_cast<std::size_t>(mistake.sample)].classes.front();
    CHECK(first.index == mistake.predicted);
    CHECK(first.probability == mistake.probability);
  }
  std::int64_t among_three = 0;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const auto label = static_cast<std::int64_t>(i / 100);
    among_three += std::ranges::count(predictions[i].classes, label, &PredictedClass::index);
  }
  CHECK(value_named(evaluation, "top3_accuracy") == static_cast<double>(among_three) / 1000);
}

TEST_CASE("an evaluation and predictions have the same bits on one, two and three ranks") {
  const ImageRun& made = image_run();
  RankGroup alone({});
  const std::string expected = bits_of(evaluated(made, alone));
  const std::vector<float> outputs = predicted(made, alone, made.root / "val");
  for (const int count : {2, 3}) {
    CAPTURE(count);
    std::mutex mutex;
    std::vector<std::string> found;
    std::vector<float> on_first;
    const auto outcomes = test::run_groups(count, [&](RankGroup& ranks) {
      const std::string own = bits_of(evaluated(made, ranks));
      const std::vector<float> rows = predicted(made, ranks, made.root / "val");
      const std::lock_guard lock(mutex);
      found.push_back(own);
      if (ranks.rank() == 0) on_first = rows;
    });
    for (const auto& outcome : outcomes) CHECK(outcome.empty());
    REQUIRE(std::ssize(found) == count);
    for (const std::string& bits : found) CHECK(bits == expected);
    CHECK(on_first == outputs);
  }
}

TEST_CASE("an evaluation repeats the last epoch's validation values") {
  const ImageRun& made = image_run();
  RankGroup alone({});
  const Evaluation evaluation = evaluated(made, alone);
  std::ifstream metrics(made.run / "metrics.csv");
  std::string header, row, last;
  std::getline(metrics, header);
  while (std::getline(metrics, row)) last = row;
  CHECK(last.find("," + number_text(value_named(evaluation, "loss")) + ",") != std::string::npos);
  CHECK(last.find("," + number_text(value_named(evaluation, "accuracy")) + ",") !=
        std::string::npos);
}

TEST_CASE("a folder of class folders is evaluated with the run's classes") {
  const ImageRun& made = image_run();
  RankGroup alone({});
  const Evaluation whole = evaluated(made, alone);
  CHECK(bits_of(evaluated(made, alone, (made.root / "val").string())) == bits_of(whole));
  const fs::path part = made.folder / "part";
  fs::create_directories(part);
  fs::create_directory_symlink(made.root / "val" / "c", part / "c");
  const Evaluation of_part = evaluated(made, alone, part.string());
  CHECK(of_part.samples == 100);
  for (std::int64_t c = 0; c < kImageClasses; ++c) {
    CHECK(of_part.tables->matrix.count(2, c) == whole.tables->matrix.count(2, c));
  }
  fs::rename(part / "c", part / "k");
  CHECK(error_of(ErrorKind::data,
                 [&] { static_cast<void>(evaluated(made, alone, part.string())); }) ==
        "'" + part.string() +
            "' has the class 'k', which the run does not have; classes are matched by their names: "
            "give them the same ones, or leave that class out");
  CHECK(error_of(ErrorKind::command_line, [&] {
          static_cast<void>(evaluated(made, alone, "vall"));
        }).starts_with("--data 'vall': expected val, train, or a folder"));
}

TEST_CASE("an evaluation is written as tables, images and JSON") {
  const ImageRun& made = image_run();
  RankGroup alone({});
  const StoredModel stored = made.stored();
  const Evaluation evaluation = evaluated(made, alone);
  const InferenceData data = open_evaluated(stored, "val", alone, {.seed = 42});
  std::vector<std::string> warnings;
  const EvaluationFiles files{.folder = made.folder / "out" / "eval",
                              .gnuplot = {},
                              .warn = [&](const std::string& text) { warnings.push_back(text); }};
  const auto written =
      write_evaluation(files, Disk(), evaluation, {.weights = "w", .data = "d"}, *data.set);
  CHECK(written == std::vector<std::string>{"eval.json", "predictions.csv", "classes.csv",
                                            "confusion.csv", "mistakes.csv", "mistakes.png"});
  for (const std::string& name : written) CHECK(fs::file_size(files.folder / name) > 0);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("confusion.csv has all the numbers") != std::string::npos);
  const Json json = json_of(evaluation, {.weights = "w", .data = "d"});
  CHECK(json.at("samples") == 1000);
  CHECK(json.at("accuracy") == value_named(evaluation, "accuracy"));
  CHECK(json.at("classes").size() == 10);
  CHECK(json.at("classes")[3].at("class") == "d");
}

TEST_CASE("the folder of an evaluation says what was evaluated") {
  const ImageRun& made = image_run();
  const StoredModel stored = made.stored();
  CHECK(evaluation_folder(stored, made.run, "val") == made.run / "eval");
  CHECK(evaluation_folder(stored, made.run, "train") == made.run / "eval" / "train");
  CHECK(evaluation_folder(stored, made.run, "some/images/") == made.run / "eval" / "images");
  const fs::path checkpoint = stored.weights.checkpoint->path;
  CHECK(evaluation_folder(stored, checkpoint, "val") == made.run / "eval" / checkpoint.filename());
}
