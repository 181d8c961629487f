// What `train predict` reads of files of rows, and what it writes to files.
#include <doctest/doctest.h>

#include <cstring>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "data/sets/numpy_array.h"
#include "inference/prediction.h"
#include "inference/prediction_rows.h"
#include "trained_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

NumpyArray parsed(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return parse_numpy({bytes.begin(), bytes.end()}, "x.npy");
}

/// A run of `source` with samples of `input`, trained for an epoch.
struct RowsRun {
  RowsRun(const std::string& input, const std::string& source) : run(folder / "run") {
    std::string table = "a,colour,b,y\n";
    for (int i = 0; i < 12; ++i) {
      table += std::to_string(i) + (i % 2 == 0 ? ",red," : ",blue,") + "0." + std::to_string(i) +
               "," + std::to_string(i % 2) + "\n";
    }
    folder.write("train.csv", table);
    folder.write("x.npy", numpy_file(std::vector<float>(36, 0.5f), 12));
    folder.write("y.npy", labels());
    std::string yaml = "name: rows\nnetwork:\n  input: " + input +
                       "\n  layers: [flatten, dense: 4, relu, dense: 2, softmax]\ndata:\n";
    for (const char* part : {"train", "val"}) yaml += "  " + (part + (": {" + source)) + "}\n";
    yaml +=
        "batch: {total: 4}\nloss: cross_entropy\noptimizer: {sgd: {lr: 0.1}}\nepochs: 1\n"
        "threads: 1\n";
    for (std::size_t at; (at = yaml.find("HERE")) != std::string::npos;) {
      yaml.replace(at, 4, folder.text());
    }
    test::train_into_folder(yaml, run);
  }
  /// The classes 0 and 1 in turn.
  static std::string labels() {
    std::vector<std::int32_t> values;
    for (int i = 0; i < 12; ++i) values.push_back(i % 2);
    std::vector<float> bits(values.size());
    std::memcpy(bits.data(), values.data(), sizeof(float) * bits.size());
    std::string file = numpy_file(bits, 12);
    file.replace(file.find("<f4"), 3, "<i4");
    return file;
  }
  [[nodiscard]] StoredModel stored() const {
    return open_stored_model(run, {}, [](const std::string&) {});
  }
  [[nodiscard]] PredictionRows rows(const std::vector<std::string>& names) const {
    const StoredModel model = stored();
    NamedInputs named;
    for (const std::string& name : names) named.paths.push_back(folder.text() + "/" + name);
    REQUIRE(reads_rows(model, samples_of(model, {}), named));
    return open_rows(model, samples_of(model, {}), named);
  }
  [[nodiscard]] std::string refused(ErrorKind kind, const std::vector<std::string>& names) const {
    return error_of(kind, [&] { static_cast<void>(rows(names)); });
  }
  TemporaryFolder folder;
  std::filesystem::path run;
};

const RowsRun& table_run() {
  static const RowsRun made(
      "[4]", "source: table, file: HERE/train.csv, columns: {label: y, categorical: [colour]}");
  return made;
}

const RowsRun& arrays_run() {
  static const RowsRun made("[1, 1, 3]", "source: arrays, x: HERE/x.npy, y: HERE/y.npy");
  return made;
}

}  // namespace

TEST_CASE("rows of a table are its features by the run's means, bad ones are left out and told") {
  const RowsRun& run = table_run();
  run.folder.write("new.tsv", "b\tcolour\tmore\ta\n0.5\tred\tx\t5.5\n\tblue\t\t1\n0\tblue\t\t7\n");
  const PredictionRows rows = run.rows({"new.tsv", "train.csv"});
  REQUIRE(rows.inputs.size() == 14);
  CHECK(rows.inputs[0].name == run.folder.text() + "/new.tsv:2");
  CHECK(rows.inputs[1].name == run.folder.text() + "/new.tsv:4");
  CHECK(rows.inputs[2].name == run.folder.text() + "/train.csv:2");
  REQUIRE(rows.faults.size() == 1);
  CHECK(rows.faults[0].find("new.tsv', line 3: column 'b': has no value") != std::string::npos);
  std::vector<float> first(4);
  rows.set->read(0, first.data());
  CHECK(first[0] == 0.0f);  // the mean of a
  CHECK(first[1] == 0.0f);  // blue
  CHECK(first[2] == 1.0f);  // red
}

TEST_CASE("files that a run of rows does not read are refused with what it reads") {
  const RowsRun& table = table_run();
  const RowsRun& arrays = arrays_run();
  table.folder.write("few.csv", "a,colur,b\n1,red,2\n");
  table.folder.write("x.png", "");
  arrays.folder.write("wide.npy", numpy_file(std::vector<float>(8), 2));
  arrays.folder.write("x.csv", "");
  struct Case {
    const RowsRun& run;
    ErrorKind kind;
    std::vector<std::string> names;
    std::string says;
  };
  const std::vector<Case> cases{
      {table, ErrorKind::data, {"few.csv"}, "but none named 'colour'"},
      {table, ErrorKind::data, {"few.csv"}, "did you mean 'colur'?"},
      {table, ErrorKind::command_line, {"x.png"}, "'table' reads files that end in .csv, .tsv"},
      {table, ErrorKind::command_line, {"trian.csv"}, "did you mean '" + table.folder.text()},
      {table, ErrorKind::command_line, {}, "there is nothing to predict"},
      {arrays, ErrorKind::data, {"wide.npy"}, "has samples [1, 1, 4], but the run's are [1, 1, 3]"},
      {arrays, ErrorKind::command_line, {"x.csv"}, "'arrays' reads files that end in .npz, .npy"},
      {arrays, ErrorKind::command_line, {"x.npy", "y.npy"}, "a file at a time, but there are 2"},
  };
  for (const Case& one : cases) {
    INFO(one.says);
    const std::string message = one.run.refused(one.kind, one.names);
    INFO(message);
    CHECK(message.find(one.says) != std::string::npos);
  }
}

TEST_CASE("an array is predicted without its labels, its samples named by their indices") {
  const PredictionRows rows = arrays_run().rows({"x.npy"});
  REQUIRE(rows.inputs.size() == 12);
  CHECK(rows.inputs[11].name == arrays_run().folder.text() + "/x.npy[11]");
  CHECK(rows.set->classes() == 2);
  CHECK(rows.set->label(11) == 0);
}

TEST_CASE("a layer's outputs are rows of its elements, and a wrong name gets the nearest") {
  const StoredModel stored = table_run().stored();
  CHECK(layer_form(stored, "dense1").width == 4);
  CHECK(layer_form(stored, "dense2").width == 2);
  const auto refused = [&](const std::string& layer) {
    return error_of(ErrorKind::command_line, [&] { static_cast<void>(layer_form(stored, layer)); });
  };
  CHECK(refused("danse1").find("did you mean 'dense1'?") != std::string::npos);
  CHECK(refused("softmax1").find("is computed with the loss") != std::string::npos);
}

TEST_CASE("predictions are a CSV table, a JSON array and a .npy file that reads back") {
  const PredictionForm form{.names = {"cat", "dog"}, .logits = true, .width = 2};
  const std::vector<float> row{0, 0}, other{0, 40};
  const auto contents = [&](PredictionFormat format) {
    PredictionFile file(format, form, 1);
    file.add({"a", ""}, row, prediction_of(row, form, 1));
    file.add({"b", ""}, other, prediction_of(other, form, 1));
    return file.contents();
  };
  CHECK(contents(PredictionFormat::csv) == "input,class,probability\na,cat,0.5\nb,dog,1\n");
  const Json json = Json::parse(contents(PredictionFormat::json));
  REQUIRE(json.size() == 2);
  CHECK(json[1].at("class") == "dog");
  const NumpyArray array = parsed(contents(PredictionFormat::npy));
  CHECK(array.shape == std::vector<std::int64_t>{2, 2});
  CHECK(floats_of(array)[0] == 0.5f);
  CHECK(floats_of(array)[3] == 1.0f);
  CHECK(PredictionFile(PredictionFormat::json, form, 1).contents() == "[\n]\n");
  CHECK(parsed(PredictionFile(PredictionFormat::npy, form, 1).contents()).elements() == 0);
  CHECK(prediction_format("x.NPY") == PredictionFormat::npy);
  CHECK_FALSE(prediction_format("x.txt"));
}

TEST_CASE("values for programs are those after the sigmoid or softmax of the loss") {
  const std::vector<float> row{0, 0};
  CHECK(prediction_values(row, {.names = {}, .logits = false, .width = 2}) ==
        std::vector<float>{0, 0});
  CHECK(prediction_values(row, {.names = {}, .logits = true, .width = 2}) ==
        std::vector<float>{0.5f, 0.5f});
  const std::vector<float> one{0.25f};
  CHECK(prediction_values(one, {.names = {"no", "yes"}, .logits = false, .width = 1}) ==
        std::vector<float>{0.75f, 0.25f});
}
