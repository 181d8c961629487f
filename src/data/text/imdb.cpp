#include "data/text/imdb.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "data/text/keras_words.h"
#include "data/text/texts.h"

namespace trainyard {
namespace {

constexpr std::uint32_t kKerasSeed = 113;
constexpr std::uint64_t kMostWordIndexBytes = 64 << 20;
constexpr const char* kIndexName = "imdb_word_index.json";

fs::path reviews_folder(const ImdbOptions& options) {
  const fs::path folder =
      find_data_folder({options.root,
                        "imdb",
                        {"train.tsv", "train/pos", "aclImdb/train/pos"},
                        "the IMDB reviews",
                        "get them with: train data get imdb --to '" + options.root.string() + "'"});
  std::error_code ignored;
  const fs::path inner = folder / "aclImdb";
  return fs::exists(inner / "train", ignored) ? inner : folder;
}

LabelledTexts reviews_of(const fs::path& folder, const std::string& split) {
  const fs::path table = folder / (split + ".tsv");
  std::error_code ignored;
  return fs::exists(table, ignored) ? read_text_table(table) : read_text_folders(folder / split);
}

/// Keras's index, beside the reviews or beside their folder.
WordIndex keras_index(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& place : {folder / kIndexName, folder / ".." / kIndexName}) {
    if (!fs::exists(place, ignored)) continue;
    return parse_word_index(read_text(place, ErrorKind::data, kMostWordIndexBytes), place.string());
  }
  bad_file(folder / kIndexName,
           std::string("does not exist; get it with: curl -L "
                       "https://storage.googleapis.com/tensorflow/tf-keras-datasets/") +
               kIndexName + " -o '" + (folder / kIndexName).string() +
               "', or set 'word_ranks: counted'");
}

WordIndex index_of(const ImdbOptions& options, const fs::path& folder,
                   const LabelledTexts& training) {
  return options.word_ranks == WordRanks::keras ? keras_index(folder)
                                                : counted_index(training.texts);
}

/// The samples of `reviews` in this order.
TokenSamples samples_of(const LabelledTexts& reviews, const std::vector<std::int64_t>& order,
                        const WordIndex& index, const ImdbOptions& options) {
  TokenSamples samples{.steps = options.length, .padding = PaddingSide::front};
  const auto steps = static_cast<std::size_t>(options.length);
  samples.tokens.resize(order.size() * steps);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto review = static_cast<std::size_t>(order[i]);
    const std::vector<std::int32_t> tokens =
        keras_tokens(reviews.texts[review], index, options.vocabulary);
    const std::int64_t kept =
        fit_at_front(tokens, std::span(samples.tokens).subspan(i * steps, steps));
    samples.lengths.push_back(static_cast<std::int32_t>(kept));
    samples.labels.push_back(reviews.labels[review]);
  }
  return samples;
}

std::string tokens_fingerprint(const TokenSamples& samples) {
  Hash128 hash;
  hash.update(vocabulary_json(*samples.vocabulary));
  for (const auto* numbers : {&samples.tokens, &samples.labels}) {
    hash.update(std::as_bytes(std::span(*numbers)));
  }
  return hash.hex();
}

}  // namespace

void declare(config::Fields& fields, ImdbOptions& options) {
  fields.field("root", options.root,
               "folder with imdb or aclImdb, or that folder itself: train.tsv and test.tsv, or the "
               "published folders");
  fields.field("split", options.split, "which split");
  fields.field("vocabulary", options.vocabulary,
               "number of tokens: words of rank vocabulary - 3 and above are unknown",
               {.minimum = 5, .maximum = 1 << 24});
  fields.field("length", options.length, "tokens of a review, cut and padded at the front",
               {.minimum = 1, .maximum = 65536});
  fields.field(
      "word_ranks", options.word_ranks,
      "keras: those of imdb_word_index.json; counted: of the training reviews, ties in the "
      "order of first appearance");
  declare_common(fields, options);
}

DatasetPtr open_imdb(const ImdbOptions& options) {
  const fs::path folder = reviews_folder(options);
  const LabelledTexts training = reviews_of(folder, "train");
  const WordIndex index = index_of(options, folder, training);
  NumpyRandom random(kKerasSeed);
  std::vector<std::int64_t> order = random.shuffled(std::ssize(training.texts));
  TokenSamples samples;
  if (options.split == Split::test) {
    const LabelledTexts test = reviews_of(folder, "test");
    order = random.shuffled(std::ssize(test.texts));
    samples = samples_of(test, order, index, options);
  } else {
    samples = samples_of(training, order, index, options);
  }
  samples.classes = 2;
  samples.class_names = {"negative", "positive"};
  samples.vocabulary = std::make_shared<const Vocabulary>(
      TextUnit::words, keras_token_texts(index, options.vocabulary), KerasTokens::kUnknown);
  samples.fingerprint = tokens_fingerprint(samples);
  return token_set_of(std::move(samples), options.limit);
}

WordIndex imdb_word_index(const ImdbOptions& options) {
  const fs::path folder = reviews_folder(options);
  if (options.word_ranks == WordRanks::keras) return keras_index(folder);
  return counted_index(reviews_of(folder, "train").texts);
}

}  // namespace trainyard
