// The tokens of sequences and what they stand for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace trainyard {

/// What a token stands for: a character (a code point of UTF-8), a byte, or a word, which in
/// generated text is followed by a space.
enum class TextUnit { characters, bytes, words };

/// The words of a vocabulary by token, from 0. Immutable.
class Vocabulary {
 public:
  /// `words`: "" for a token without a text. `unknown`: the token of what is not in the vocabulary.
  /// Throws Error{data} if a word is there twice.
  Vocabulary(TextUnit unit, std::vector<std::string> words,
             std::optional<std::int32_t> unknown = {});
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = delete;

  [[nodiscard]] std::int64_t size() const { return std::ssize(words_); }
  [[nodiscard]] TextUnit unit() const { return unit_; }
  [[nodiscard]] std::optional<std::int32_t> unknown() const { return unknown_; }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  /// False if no token has a text, as in data that have tokens as numbers alone.
  [[nodiscard]] bool has_texts() const { return !tokens_.empty(); }
  /// The token of a word; unknown() if it is not there.
  [[nodiscard]] std::optional<std::int32_t> find(std::string_view word) const;
  /// What tokens in [0, size) stand for.
  [[nodiscard]] std::string text_of(std::span<const std::int32_t> tokens) const;

 private:
  TextUnit unit_;
  std::vector<std::string> words_;
  std::optional<std::int32_t> unknown_;
  std::unordered_map<std::string_view, std::int32_t> tokens_;  // views into words_
};

/// The 256 bytes.
[[nodiscard]] Vocabulary byte_vocabulary();
[[nodiscard]] std::shared_ptr<const Vocabulary> copy_of(const Vocabulary& vocabulary);
/// Words without a text, which data have as numbers alone.
[[nodiscard]] Vocabulary numbered_vocabulary(std::int64_t size);

/// As JSON: {"unit": "characters", "unknown": 0 or null, "size": 60, "words": [...]}, for bytes
/// without the words.
[[nodiscard]] std::string vocabulary_json(const Vocabulary& vocabulary);
/// The inverse. Throws Error{data} with the place in `name` for anything else.
[[nodiscard]] Vocabulary parse_vocabulary(std::string_view json, const std::string& name);

}  // namespace trainyard
