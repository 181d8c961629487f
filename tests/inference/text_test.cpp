// Evaluation and prediction of texts: tokens are made as the run's source makes them.
#include <doctest/doctest.h>

#include <map>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "inference/evaluated_data.h"
#include "inference/evaluation.h"
#include "inference/prediction.h"
#include "inference/prediction_inputs.h"
#include "trained_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

namespace fs = std::filesystem;

constexpr const char* kWordIndex = R"({"the": 1, "good": 2, "bad": 3, "film": 4, "rare": 9})";

/// Reviews of a few words, some unknown, some rare.
std::vector<std::string> reviews(int count) {
  const std::vector<std::string> words{"good",  "the film",   "bad",
                                       "Rare!", "unheard of", "film, bad"};
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    const auto word = [&](int k) { return words[static_cast<std::size_t>(k) % words.size()]; };
    texts.push_back(word(i) + " " + word(i / 6) + " " + word(i * 5 + 1));
  }
  return texts;
}

std::int32_t label_of(const std::string& text) { return text.starts_with("good") ? 1 : 0; }

/// A trained run on reviews below `folder`, 60 of each split.
struct ReviewRun {
  ReviewRun() : run(folder / "run") {
    std::string table = "label\ttext\n";
    for (const std::string& text : reviews(60)) {
      table += std::to_string(label_of(text)) + "\t" + text + "\n";
    }
    folder.write("data/imdb/train.tsv", table);
    folder.write("data/imdb/test.tsv", table);
    folder.write("data/imdb/imdb_word_index.json", kWordIndex);
    const std::string source =
        "source: imdb, root: " + (folder / "data").string() + ", vocabulary: 9, length: 5, split: ";
    test::train_into_folder(R"(name: reviews
network:
  input: {tokens: 5, vocabulary: 9}
  layers: [embedding: 4, flatten, dense: 1, sigmoid]
data:
  train: {)" + source + R"(train}
  val: {)" + source + R"(test}
  workers: 0
batch: {total: 7}
loss: binary_cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 0.01}}
epochs: 3
threads: 1
)",
                            run);
  }
  [[nodiscard]] StoredModel stored() const {
    return open_stored_model(run, {}, [](const std::string&) {});
  }
  TemporaryFolder folder;
  fs::path run;
};

std::vector<PredictionInput> inputs_of(const std::vector<std::string>& texts) {
  return text_inputs({.paths = {}, .texts = texts});
}

}  // namespace

TEST_CASE("reviews are predicted as an evaluation counts them") {
  const ReviewRun made;
  RankGroup alone({});
  const StoredModel stored = made.stored();
  SessionDevice device = inference_device(stored, {}, alone);
  const Evaluation evaluation =
      evaluate_stored(stored, device, alone, open_evaluated(stored, "val", alone, {}), {});
  const SamplesRecord samples = samples_of(stored, {});
  const PredictionForm form = prediction_form(stored, samples);
  CHECK(form.names == std::vector<std::string>{"negative", "positive"});
  const std::vector<std::string> texts = reviews(60);
  const InferenceData data = open_inputs(stored, samples, inputs_of(texts), {});
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> counts;
  std::size_t next = 0;
  predict_stored(stored, device, alone, data, {}, [&](std::span<const float> rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Prediction prediction = prediction_of(rows.subspan(i, 1), form, 1);
      ++counts[{label_of(texts[next++]), prediction.classes.front().index}];
    }
  });
  CHECK(next == 60);
  for (std::int64_t label = 0; label < 2; ++label) {
    for (std::int64_t c = 0; c < 2; ++c) {
      CHECK(evaluation.tables->matrix.count(label, c) == counts[{label, c}]);
    }
  }
}

TEST_CASE("a model of reviews needs the words that it was trained with") {
  const ReviewRun made;
  const auto fault = [&](ErrorKind kind) {
    const StoredModel stored = made.stored();
    return error_of(kind, [&] {
      static_cast<void>(open_inputs(stored, samples_of(stored, {}), inputs_of({"good"}), {}));
    });
  };
  CHECK(fault(ErrorKind::data).empty());
  made.folder.write("data/imdb/imdb_word_index.json", R"({"the": 1, "bad": 2})");
  CHECK(fault(ErrorKind::checkpoint).find("is not that of the run's vocabulary.json") !=
        std::string::npos);
  fs::remove(made.run / "vocabulary.json");
  CHECK(fault(ErrorKind::checkpoint).find("has no vocabulary.json") != std::string::npos);
}
