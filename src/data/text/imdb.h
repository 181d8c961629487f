// The Large Movie Review Dataset as Keras's imdb.load_data gives it.
#pragma once

#include "data/sets/source.h"
#include "data/sets/token_set.h"
#include "data/text/keras_words.h"

namespace trainyard {

/// Where the ranks of words are from.
enum class WordRanks {
  keras,    // imdb_word_index.json beside the data, which Keras's imdb.npz was made with
  counted,  // how often words are in the training reviews: the same but for words that are equally
            // frequent
};
[[nodiscard]] constexpr config::Words<WordRanks> words(WordRanks) { return {"keras", "counted"}; }

struct ImdbOptions : SourceOptions {
  static constexpr std::string_view kName = "imdb";
  config::FilePath root = "data";
  Split split = Split::train;
  std::int64_t vocabulary = 20000;
  std::int64_t length = 80;
  WordRanks word_ranks = WordRanks::keras;
};
void declare(config::Fields& fields, ImdbOptions& options);

/// Reviews as tokens [length] with the class negative (0) or positive (1), and how many tokens are
/// no padding in the field `length`. As keras.datasets.imdb.load_data(num_words=vocabulary) and
/// pad_sequences(maxlen=length), of Keras 2.1.6: start 1, unknown 2, ranks from 4, both splits
/// shuffled by numpy's RandomState(113), cut and padded at the front. The reviews are in train.tsv
/// and test.tsv, or in folders train/pos, train/neg, test/pos and test/neg. Throws Error{data} as
/// read_text_table() and read_text_folders(), and for a missing word index.
[[nodiscard]] DatasetPtr open_imdb(const ImdbOptions& options);

/// The ranks by which open_imdb() turns words into tokens. Throws Error{data} as that.
[[nodiscard]] WordIndex imdb_word_index(const ImdbOptions& options);

}  // namespace trainyard
