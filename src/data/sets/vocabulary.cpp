#include "data/sets/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "formats/json.h"

namespace trainyard {

namespace {

constexpr std::int64_t kMostWords = 4'000'000;
constexpr std::array<std::pair<TextUnit, const char*>, 3> kUnits{
    {{TextUnit::characters, "characters"}, {TextUnit::bytes, "bytes"}, {TextUnit::words, "words"}}};

[[noreturn]] void bad_vocabulary(const std::string& name, const std::string& what) {
  throw data_error("'" + name + "' is not a vocabulary: " + what);
}

TextUnit unit_named(const std::string& word, const std::string& name) {
  for (const auto& [unit, text] : kUnits) {
    if (word == text) return unit;
  }
  bad_vocabulary(name, "unit '" + shortened(word) + "', expected 'characters', 'bytes' or 'words'");
}

Vocabulary vocabulary_of(const Json& json, const std::string& name) {
  const TextUnit unit = unit_named(json.at("unit").get<std::string>(), name);
  if (unit == TextUnit::bytes) return byte_vocabulary();
  auto words = json.at("words").get<std::vector<std::string>>();
  const std::int64_t size = integer_of(json.at("size"));
  if (std::ssize(words) != size || size < 1) {
    bad_vocabulary(name, "it has " + std::to_string(words.size()) + " words and the size " +
                             std::to_string(size));
  }
  std::optional<std::int32_t> unknown;
  if (!json.at("unknown").is_null()) {
    const std::int64_t token = integer_of(json.at("unknown"));
    if (token < 0 || token >= size) {
      bad_vocabulary(name, "its unknown token is " + std::to_string(token) + ", expected 0 to " +
                               std::to_string(size - 1));
    }
    unknown = static_cast<std::int32_t>(token);
  }
  return {unit, std::move(words), unknown};
}

}  // namespace

Vocabulary::Vocabulary(TextUnit unit, std::vector<std::string> words,
                       std::optional<std::int32_t> unknown)
    : unit_(unit), words_(std::move(words)), unknown_(unknown) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i].empty()) continue;
    if (tokens_.emplace(words_[i], static_cast<std::int32_t>(i)).second) continue;
    throw data_error("a vocabulary has the word " + json_quoted(shortened(words_[i])) +
                     " twice, the second time as token " + std::to_string(i));
  }
}

std::optional<std::int32_t> Vocabulary::find(std::string_view word) const {
  const auto found = tokens_.find(word);
  return found == tokens_.end() ? unknown_ : found->second;
}

std::string Vocabulary::text_of(std::span<const std::int32_t> tokens) const {
  std::string text;
  for (const std::int32_t token : tokens) {
    if (unit_ == TextUnit::words && !text.empty()) text += ' ';
    text += words_[static_cast<std::size_t>(token)];
  }
  return text;
}

Vocabulary byte_vocabulary() {
  std::vector<std::string> words;
  for (int byte = 0; byte < 256; ++byte) words.emplace_back(1, static_cast<char>(byte));
  return {TextUnit::bytes, std::move(words)};
}

std::shared_ptr<const Vocabulary> copy_of(const Vocabulary& vocabulary) {
  return std::make_shared<const Vocabulary>(vocabulary.unit(), vocabulary.words(),
                                            vocabulary.unknown());
}

Vocabulary numbered_vocabulary(std::int64_t size) {
  return {TextUnit::words, std::vector<std::string>(static_cast<std::size_t>(size))};
}

std::string vocabulary_json(const Vocabulary& vocabulary) {
  const auto unit =
      std::ranges::find(kUnits, vocabulary.unit(), &decltype(kUnits)::value_type::first);
  Json json{{"unit", unit->second},
            {"unknown", vocabulary.unknown() ? Json(*vocabulary.unknown()) : Json()},
            {"size", vocabulary.size()}};
  if (vocabulary.unit() != TextUnit::bytes) json["words"] = vocabulary.words();
  return json_text(json);
}

Vocabulary parse_vocabulary(std::string_view json, const std::string& name) {
  const Json parsed = parse_json(json, {.name = name}, {.depth = 4, .values = kMostWords});
  try {
    return vocabulary_of(parsed, name);
  } catch (const Json::exception& error) {
    bad_vocabulary(name, std::string(error.what()) +
                             "; expected {\"unit\": ..., \"unknown\": ..., \"size\": ..., "
                             "\"words\": [...]}, as a run's vocabulary.json");
  }
}

}  // namespace trainyard
