#include "data/text/text_units.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {

namespace {

constexpr std::size_t kMostWordBytes = 65536;
constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr const char* kUnknownWord = "<unknown>";

using Counts = std::unordered_map<std::string, std::int64_t>;

std::vector<std::pair<std::string, std::int64_t>> by_frequency(const Counts& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return sorted;
}

std::vector<std::string> all_words(const Counts& counts) {
  std::vector<std::string> words;
  for (const auto& [word, count] : counts) words.push_back(word);
  std::ranges::sort(words);
  return words;
}

std::vector<std::string> frequent_words(Counts counts, std::int64_t size) {
  std::vector<std::string> words{kUnknownWord};
  counts.erase(kUnknownWord);
  for (auto& [word, count] : by_frequency(counts)) {
    if (std::ssize(words) == size) break;
    words.push_back(word);
  }
  words.resize(static_cast<std::size_t>(size));
  return words;
}

void for_each_word(std::string_view text, const std::string& name,
                   const std::function<void(std::string_view)>& each) {
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    if (end - at > kMostWordBytes) {
      bad_text(text, at, name,
               "a word of " + std::to_string(end - at) + " bytes, expected at most " +
                   std::to_string(kMostWordBytes) +
                   "; for text without blanks set 'unit: characters'");
    }
    each(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
}

/// A place in a text, both from 1. Lines end in \n; bytes count from the line's start.
struct TextPlace {
  std::int64_t line = 1, byte = 1;
};
TextPlace place_in(std::string_view text, std::size_t offset) {
  TextPlace place{.line = 1, .byte = static_cast<std::int64_t>(offset) + 1};
  for (std::size_t i = 0; i < offset; ++i) {
    if (text[i] != '\n') continue;
    ++place.line;
    place.byte = static_cast<std::int64_t>(offset - i);
  }
  return place;
}

}  // namespace

void bad_text(std::string_view text, std::size_t offset, const std::string& name,
              const std::string& what) {
  const TextPlace place = place_in(text, offset);
  throw data_error("'" + name + "', line " + std::to_string(place.line) + ", byte " +
                   std::to_string(place.byte) + ": " + what);
}

void require_utf8(std::string_view text, const std::string& name, const std::string& advice) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') bad_text(text, at, name, "a zero byte" + advice);
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      char byte[8];
      std::snprintf(byte, sizeof byte, "0x%02x", static_cast<unsigned char>(text[at]));
      bad_text(text, at, name, std::string(byte) + " is not UTF-8" + advice);
    }
    at += length;
  }
}

void for_each_unit(std::string_view text, TextUnit unit, const std::string& name,
                   const std::function<void(std::string_view)>& each) {
  if (unit == TextUnit::words) return for_each_word(text, name, each);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = unit == TextUnit::bytes ? 1 : utf8_length(text.substr(at));
    TY_CHECK(length > 0, "text is UTF-8");
    each(text.substr(at, length));
    at += length;
  }
}

Vocabulary vocabulary_of_text(std::string_view text, TextUnit unit, std::int64_t count,
                              std::int64_t size, const std::string& name) {
  if (unit == TextUnit::bytes) return byte_vocabulary();
  Counts counts;
  std::int64_t seen = 0;
  for_each_unit(text, unit, name, [&](std::string_view one) {
    if (seen++ < count) ++counts[std::string(one)];
  });
  if (size == 0) return {unit, all_words(counts)};
  return {unit, frequent_words(std::move(counts), size), 0};
}

std::vector<std::int32_t> tokens_of_text(std::string_view text, const Vocabulary& vocabulary,
                                         const std::string& name) {
  std::vector<std::int32_t> tokens;
  for_each_unit(text, vocabulary.unit(), name, [&](std::string_view one) {
    const std::optional<std::int32_t> token = vocabulary.find(one);
    if (!token) {
      bad_text(text, static_cast<std::size_t>(one.data() - text.data()), name,
               json_quoted(shortened(one)) +
                   " is not in the vocabulary; a vocabulary of a given size ('vocabulary: 100') "
                   "has a token for what is unknown");
    }
    tokens.push_back(*token);
  });
  return tokens;
}

}  // namespace trainyard
