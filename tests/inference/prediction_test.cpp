// What outputs become, and what the inputs of a prediction may be.
#include "inference/prediction.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "inference/prediction_inputs.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

const PredictionForm kThreeClasses{
    .names = {"cat", "dog", "a, b"}, .threshold = 0, .logits = true, .width = 3};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string line_of(PredictionStyle style, const std::vector<float>& row,
                    const PredictionForm& form = kThreeClasses, std::int64_t top = 2) {
  return prediction_line(style, form, {"x.png", ""}, prediction_of(row, form, top), top);
}

std::vector<std::string> names_of(const std::vector<PredictionInput>& inputs) {
  std::vector<std::string> names;
  for (const PredictionInput& input : inputs) names.push_back(input.name);
  return names;
}

}  // namespace

TEST_CASE("the classes with the largest outputs come first, equal ones by index") {
  const std::vector<float> row{1, 1 + std::log(2.0f), 1};
  const Prediction prediction = prediction_of(row, kThreeClasses, 9);
  REQUIRE(prediction.classes.size() == 3);
  CHECK(prediction.classes[0].index == 1);
  CHECK(prediction.classes[0].probability == doctest::Approx(0.5));
  CHECK(prediction.classes[1].index == 0);
  CHECK(prediction.classes[2].index == 2);
  CHECK(prediction.classes[2].probability == doctest::Approx(0.25));
}

TEST_CASE("a single output predicts one of two classes by its threshold") {
  const PredictionForm logit{.names = {"no", "yes"}, .threshold = 0, .logits = true, .width = 1};
  const PredictionForm chance{
      .names = {"no", "yes"}, .threshold = 0.5, .logits = false, .width = 1};
  CHECK(prediction_of(std::vector{0.1f}, logit, 1).classes[0].index == 1);
  CHECK(prediction_of(std::vector{0.0f}, logit, 1).classes[0].index == 0);
  const Prediction no = prediction_of(std::vector{0.25f}, chance, 2);
  CHECK(no.classes[0].index == 0);
  CHECK(no.classes[0].probability == 0.75);
  CHECK(no.classes[1].probability == 0.25);
}

TEST_CASE("predictions are lines of text, CSV and JSON") {
  const std::vector<float> row{0, 40, 0};
  CHECK(prediction_header(PredictionStyle::text, kThreeClasses, 2).empty());
  CHECK(prediction_header(PredictionStyle::csv, kThreeClasses, 2) ==
        "input,class,probability,class_2,probability_2\n");
  CHECK(prediction_header(PredictionStyle::csv, kThreeClasses, 9) ==
        "input,class,probability,class_2,probability_2,class_3,probability_3\n");
  CHECK(line_of(PredictionStyle::text, row) == "x.png: dog 1.0000, cat 0.0000\n");
  CHECK(line_of(PredictionStyle::csv, {0, 0, 40}) == "x.png,\"a, b\",1,cat,0\n");
  CHECK(line_of(PredictionStyle::json, row, kThreeClasses, 1) ==
        "{\"input\":\"x.png\",\"class\":\"dog\",\"probability\":1.0,\"top\":[{\"class\":\"dog\","
        "\"probability\":1.0}]}\n");
}

TEST_CASE("outputs that are not a number predict nothing") {
  CHECK(line_of(PredictionStyle::text, {0, kNan, 1}) == "x.png: none\n");
  CHECK(line_of(PredictionStyle::csv, {0, kNan, 1}) == "x.png,none,,,\n");
  CHECK(line_of(PredictionStyle::json, {0, kNan, 1}) ==
        "{\"input\":\"x.png\",\"class\":null,\"probability\":null,\"top\":[]}\n");
}

TEST_CASE("a model without classes predicts its outputs") {
  const PredictionForm values{.names = {}, .threshold = 0.5, .logits = false, .width = 2};
  CHECK(prediction_header(PredictionStyle::csv, values, 3) == "input,value_1,value_2\n");
  CHECK(line_of(PredictionStyle::text, {0.5, -2}, values) == "x.png: 0.5, -2\n");
  CHECK(line_of(PredictionStyle::csv, {0.5, -2}, values) == "x.png,0.5,-2\n");
  CHECK(line_of(PredictionStyle::json, {0.5, -2}, values) ==
        "{\"input\":\"x.png\",\"values\":[0.5,-2.0]}\n");
}

TEST_CASE("images are files, those of folders by their paths, and lines of lists") {
  const TemporaryFolder folder;
  const std::string root = folder.text() + "/";
  for (const char* name : {"in/b.png", "in/a/z.jpg", "in/.hidden.png", "in/notes.md", "one.bmp"}) {
    folder.write(name, "");
  }
  folder.write("list.txt", "one.bmp\r\n\nin/b.png\n");
  const auto inputs =
      image_inputs({.paths = {root + "one.bmp", root + "in", root + "list.txt", "-"},
                    .texts = {},
                    .standard_input = "x.png\ny.png\n"});
  CHECK(names_of(inputs) == std::vector<std::string>{root + "one.bmp", root + "in/a/z.jpg",
                                                     root + "in/b.png", root + "one.bmp",
                                                     root + "in/b.png", "x.png", "y.png"});
}

TEST_CASE("files of folders and lists that cannot be read have a fault, and the others none") {
  const TemporaryFolder folder;
  const std::string root = folder.text() + "/";
  for (const char* name : {"in/a.png", "in/b.tif", "in/texts/a.txt"}) folder.write(name, "good");
  folder.write("in/texts/b.txt", "b\xff");
  std::filesystem::create_symlink("/nowhere", folder / "in/c.png");
  std::filesystem::create_directory_symlink(folder / "in", folder / "linked");
  const auto images = image_inputs({.paths = {root + "linked"}, .texts = {}});
  REQUIRE(names_of(images) == std::vector<std::string>{root + "linked/a.png", root + "linked/b.tif",
                                                       root + "linked/c.png"});
  CHECK(images[0].fault.empty());
  CHECK(images[1].fault.find("of another format than JPEG") != std::string::npos);
  CHECK(images[2].fault.find("to '/nowhere', which does not exist") != std::string::npos);
  const auto texts = text_inputs({.paths = {root + "in/texts"}, .texts = {}});
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].fault.empty());
  CHECK(texts[1].fault.find("0xff is not UTF-8") != std::string::npos);
}

TEST_CASE("what cannot be predicted is refused with what can") {
  const TemporaryFolder folder;
  const std::string root = folder.text() + "/";
  folder.write("cat.png", "");
  folder.write("table.npy", "");
  folder.write("large.tif", "");
  const auto refused = [&](ErrorKind kind, const NamedInputs& named) {
    return error_of(kind, [&] { static_cast<void>(image_inputs(named)); });
  };
  CHECK(refused(ErrorKind::command_line, {.paths = {root + "cot.png"}, .texts = {}}) ==
        "no file or folder '" + root + "cot.png' to predict; did you mean '" + root + "cat.png'?");
  CHECK(refused(ErrorKind::command_line, {.paths = {root + "table.npy"}, .texts = {}})
            .find("is neither an image (.jpg, .png, .webp, .gif, .bmp) nor a list") !=
        std::string::npos);
  CHECK(refused(ErrorKind::data, {.paths = {root + "large.tif"}, .texts = {}})
            .find("of another format than JPEG, PNG, WebP, GIF or BMP") != std::string::npos);
  CHECK(refused(ErrorKind::command_line, {.paths = {}, .texts = {}})
            .starts_with("there is nothing to predict: expected images"));
  CHECK(refused(ErrorKind::command_line, {.paths = {}, .texts = {"a text"}}) ==
        "--text: the model of this run reads images");
}

TEST_CASE("texts are lines, files of a folder, and those of the command line") {
  const TemporaryFolder folder;
  const std::string root = folder.text() + "/";
  folder.write("lines.txt", "a good one\n\nanother\n");
  folder.write("in/b.txt", "two\nlines\n");
  folder.write("in/a.txt", "one");
  const auto inputs = text_inputs({.paths = {root + "lines.txt", root + "in", "-"},
                                   .texts = {"given"},
                                   .standard_input = "piped\n"});
  CHECK(names_of(inputs) == std::vector<std::string>{"a good one", "another", root + "in/a.txt",
                                                     root + "in/b.txt", "piped", "given"});
  CHECK(inputs[3].text == "two\nlines\n");
  CHECK(inputs[5].text == "given");
  folder.write("bad.txt", "good\nb\xff");
  CHECK(error_of(ErrorKind::data, [&] {
          static_cast<void>(text_inputs({.paths = {root + "bad.txt"}, .texts = {}}));
        }).find("line 2, byte 2: 0xff is not UTF-8") != std::string::npos);
}
