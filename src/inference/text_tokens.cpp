#include "inference/text_tokens.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/sets/token_set.h"
#include "data/text/imdb.h"
#include "data/text/keras_words.h"
#include "data/text/text_windows.h"
#include "data/text/texts.h"
#include "inference/source_options.h"

namespace trainyard {
namespace {

using Tokens = std::vector<std::int32_t>;

const Vocabulary& vocabulary_of(const StoredModel& stored) {
  if (stored.vocabulary) return *stored.vocabulary;
  throw Error(ErrorKind::checkpoint, "'" + stored.run.string() +
                                         "' has no vocabulary.json, so that it is not known which "
                                         "tokens texts are made of");
}

/// As open_imdb().
class ReviewTokens {
 public:
  explicit ReviewTokens(const StoredModel& stored)
      : options_(source_options<ImdbOptions>(stored.config)), index_(imdb_word_index(options_)) {
    if (keras_token_texts(index_, options_.vocabulary) == vocabulary_of(stored).words()) return;
    throw Error(ErrorKind::checkpoint, "the word index below '" + options_.root.string() +
                                           "' is not that of the run's vocabulary.json; restore "
                                           "the one that the run was trained with");
  }
  [[nodiscard]] std::int64_t steps() const { return options_.length; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    return keras_tokens(input.text, index_, options_.vocabulary);
  }

 private:
  ImdbOptions options_;
  WordIndex index_;
};

/// As open_text(), for the token after a text.
class WindowTokens {
 public:
  explicit WindowTokens(const StoredModel& stored)
      : options_(source_options<TextOptions>(stored.config)), vocabulary_(vocabulary_of(stored)) {}
  [[nodiscard]] std::int64_t steps() const { return options_.length; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    const std::string text = options_.lower_case ? lower_case(input.text) : input.text;
    const std::string name = "'" + shortened(input.name) + "'";
    Tokens tokens = tokens_of_text(text, vocabulary_, name);
    if (std::ssize(tokens) >= options_.length) return tokens;
    throw Error(ErrorKind::data, name + ": has " + std::to_string(tokens.size()) +
                                     " tokens, but the network reads the last " +
                                     std::to_string(options_.length));
  }

 private:
  TextOptions options_;
  const Vocabulary& vocabulary_;
};

/// As open_texts().
class RowTokens {
 public:
  explicit RowTokens(const StoredModel& stored)
      : steps_(source_options<TextsOptions>(stored.config).length),
        vocabulary_(vocabulary_of(stored)) {}
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] Tokens tokens(const PredictionInput& input) const {
    return tokens_of_row(input.text, vocabulary_);
  }

 private:
  std::int64_t steps_;
  const Vocabulary& vocabulary_;
};

template <class Source>
TokenSamples samples_by(const Source& source, const std::vector<PredictionInput>& inputs) {
  const auto steps = static_cast<std::size_t>(source.steps());
  TokenSamples samples{.steps = source.steps(), .tokens = {}, .labels = {}};
  samples.tokens.resize(inputs.size() * steps);
  samples.labels.resize(inputs.size(), 0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tokens tokens = source.tokens(inputs[i]);
    const std::int64_t kept =
        fit_at_front(tokens, std::span(samples.tokens).subspan(i * steps, steps));
    samples.lengths.push_back(static_cast<std::int32_t>(kept));
  }
  return samples;
}

}  // namespace

std::unique_ptr<Dataset> tokens_of_inputs(const StoredModel& stored, const SamplesRecord& samples,
                                          const std::vector<PredictionInput>& inputs) {
  const std::string source = source_name(stored.config);
  TokenSamples made;
  if (source == "imdb") {
    made = samples_by(ReviewTokens(stored), inputs);
  } else if (source == "texts") {
    made = samples_by(RowTokens(stored), inputs);
  } else if (source == "text") {
    made = samples_by(WindowTokens(stored), inputs);
  } else {
    throw Error(ErrorKind::config, "source '" + source +
                                       "' of the run makes its samples of no texts; predict reads "
                                       "those of sources texts, imdb and text");
  }
  const Vocabulary& own = vocabulary_of(stored);
  made.vocabulary = copy_of(own);
  made.classes = samples.classes;
  made.class_names = samples.class_names;
  return token_set_of(std::move(made));
}

}  // namespace trainyard
