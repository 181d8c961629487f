// Words of text and their ranks, as Keras's Tokenizer has them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
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

/// Calls `each` with the words of a text.
void for_each_keras_word(std::string_view text, const std::function<void(std::string_view)>& each);

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

// The order in which numpy shuffles, and so Keras's loaders.

/// numpy.random.RandomState(seed) as far as shuffle() needs it: its MT19937 is std::mt19937, seeded
/// alike for seeds of 32 bits.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : words_(seed) {}
  /// numpy.arange(size) after shuffle(): for i from size - 1 to 1, i is exchanged with one of 0..i,
  /// drawn by masking a word and refusing what is larger (numpy's random_interval). `size` is at
  /// most 2^32.
  [[nodiscard]] std::vector<std::int64_t> shuffled(std::int64_t size);

 private:
  [[nodiscard]] std::uint32_t at_most(std::uint32_t largest);

  std::mt19937 words_;
};

}  // namespace trainyard
