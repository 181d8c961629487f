// Prompts that are shorter than what a network reads: padding changes nothing, where it is
// possible.
#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "run/session/session_data.h"
#include "run/text_generator.h"
#include "run_text.h"

using namespace trainyard;

namespace {

const std::string kPromptEvery =
    "lstm: {units: 8, return_sequences: true}}, {dense: {units: 6, per_position: true}";
const std::string kPromptLast = "lstm: 8}, {dense: 6";
const std::string kPromptFlat = "flatten: }, {dense: 6";

/// A run on windows of so many characters of `text`.
RunConfig prompt_run(const testing::TemporaryFolder& folder, const std::string& layers,
                     const std::string& tokens, const std::string& embedding = "4") {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "abcabdefabf";
  const std::string file = folder.write("a.txt", text).string();
  const std::string predict = layers == kPromptEvery ? "every" : "last";
  return test::read_run("name: text\nnetwork: {input: {tokens: " + tokens +
                        ", vocabulary: 6}, layers: [embedding: " + embedding + ", {" + layers +
                        "}, softmax]}\ndata:\n  train: {source: text, file: " + file +
                        ", length: " + tokens + ", predict: " + predict +
                        "}\n  val_fraction: 0.2\nbatch: {per_gpu: 4}\nloss: "
                        "cross_entropy\noptimizer: sgd\nepochs: 1\n");
}

struct Written {
  bool pads = false;
  GeneratedTexts texts;
};

/// A character at each of twelve temperatures, by the initial weights of a seed.
Written written(const RunConfig& run, const std::string& prompt, std::int64_t length = 1) {
  const SessionDevice device = make_device({}, run);
  RankGroup alone(RankGroupOptions{});
  const SessionData data = open_data(run, nullptr, 1, alone, {});
  GenerateRequest request{.config = {.temperatures = std::vector<double>(12, 1), .length = length},
                          .prompt = read_prompt(prompt, *data.train->vocabulary(), run)};
  const auto model = make_text_model(run, device, *data.train, 12);
  model->initialize(5);
  TextGenerator generator(*model, *data.train, 1);
  return {generator.pads(), generator.generate(request)};
}

std::string joined_texts(const Written& written) {
  std::string all;
  for (const GeneratedText& one : written.texts.texts) all += one.text;
  return all;
}

}  // namespace

TEST_CASE("a recurrent network continues a short prompt as a network of that many tokens does") {
  const testing::TemporaryFolder folder;
  for (const std::string& layers : {kPromptEvery, kPromptLast}) {
    const auto padded = padded_run(prompt_run(folder, layers, "9"));
    REQUIRE(padded);
    for (const char* prompt : {"a", "ab", "fed"}) {
      CAPTURE(prompt);
      const std::string tokens = std::to_string(std::string_view(prompt).size());
      const Written whole = written(*padded, prompt),
                    exact = written(prompt_run(folder, layers, tokens), prompt);
      CHECK(whole.pads);
      CHECK(whole.texts.begin == prompt);
      CHECK(joined_texts(whole) == joined_texts(exact));
    }
    // Once it reads whole windows, padding makes no difference either.
    CHECK(joined_texts(written(*padded, "abcabdefa", 20)) ==
          joined_texts(written(prompt_run(folder, layers, "9"), "abcabdefa", 20)));
  }
}

TEST_CASE(
    "a network that masks token 0 needs no mask of lengths, one that is flat has no padding") {
  const testing::TemporaryFolder folder;
  const RunConfig masks = prompt_run(folder, kPromptLast, "9", "{units: 4, mask_zero: true}");
  CHECK_FALSE(padded_run(masks));
  const Written whole = written(masks, "bcd");
  CHECK(whole.pads);
  CHECK(joined_texts(whole) ==
        joined_texts(
            written(prompt_run(folder, kPromptLast, "3", "{units: 4, mask_zero: true}"), "bcd")));
  const RunConfig flat = prompt_run(folder, kPromptFlat, "4");
  CHECK_FALSE(padded_run(flat));
  const Written filled = written(flat, "ab");
  CHECK_FALSE(filled.pads);
  CHECK(filled.texts.begin == "ab");  // not what precedes it in the window
}

TEST_CASE("a prompt is read as the run's text, and what the vocabulary lacks is named once") {
  const testing::TemporaryFolder folder;
  const Vocabulary known(TextUnit::characters, {"<unknown>", "a", "b"}, 0);
  const RunConfig run = prompt_run(folder, kPromptEvery, "3");
  const Prompt prompt = read_prompt("ab\u65e5b\u672c\u65e5", known, run);
  CHECK(prompt.tokens == std::vector<std::int32_t>{1, 2, 0, 2, 0, 0});
  CHECK(unknown_warning(prompt) ==
        "--prompt: the run's vocabulary lacks \"\u65e5\", \"\u672c\"; the model reads each as "
        "unknown");
  CHECK(unknown_warning(read_prompt("ba", known, run)).empty());
  const Vocabulary closed(TextUnit::characters, {"a", "b"});
  CHECK(test::refusal([&] {
          static_cast<void>(read_prompt("abx", closed, run));
        }).find("'--prompt', line 1, byte 3: \"x\" is not in the vocabulary") == 0);
  RunConfig small = run;
  small.settled.find("data")->find("train")->find("lower_case")->boolean = true;
  CHECK(read_prompt("AB", closed, small).tokens == std::vector<std::int32_t>{0, 1});
  CHECK(read_prompt("AB", closed, small).text == "AB");
}
