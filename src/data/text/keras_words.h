// Words of text and their ranks, as Keras's Tokenizer has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainyard {

/// The rank of each word, from 1: the most frequent one. The words of a text are found as by
/// keras.preprocessing.text.text_to_word_sequence: ASCII letters in lower case, each of
/// !"#$%&()*+,-./:;<=>?@[\]^_`{|}~, tab and line feed made a space, cut at spaces. Other bytes are
/// letters.
using WordIndex = std::unordered_map<std::string, std::int32_t>;

/// The words of `texts` by how often they are there; ties in the order of their first appearance.
[[nodiscard]] WordIndex counted_index(const std::vector<std::string>& texts);

/// A JSON object of words and their ranks, as Keras's imdb_word_index.json. Throws Error{data} for
/// anything else, for a rank that is not a whole number from 1, or one that two words have.
[[nodiscard]] WordIndex parse_word_index(std::string_view json, const std::string& name);

/// How Keras's imdb.load_data numbers words; a rank becomes the token rank + 3.
struct KerasTokens {
  static constexpr std::int32_t kPadding = 0, kStart = 1, kUnknown = 2, kIndexFrom = 3;
};

/// The tokens of a text: kStart, then of each word that the index has its rank plus kIndexFrom, or
/// kUnknown if that is not below `vocabulary`. Words that the index lacks are left out.
[[nodiscard]] std::vector<std::int32_t> keras_tokens(std::string_view text, const WordIndex& index,
                                                     std::int64_t vocabulary);

/// The texts of those tokens: "<pad>", "<start>", "<unknown>", "<unused>", then the words.
[[nodiscard]] std::vector<std::string> keras_token_texts(const WordIndex& index,
                                                         std::int64_t vocabulary);

}  // namespace trainyard
