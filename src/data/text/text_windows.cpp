#include "data/text/text_windows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kMostTextBytes = std::uint64_t{1} << 30;

/// Windows over the tokens of a text.
class TextWindows final : public TokenSet {
 public:
  TextWindows(std::vector<std::int32_t> tokens, std::shared_ptr<const Vocabulary> vocabulary,
              const TextOptions& options)
      : TokenSet(options.length,
                 options.predict == Predicted::every ? LabelForm::each : LabelForm::one,
                 vocabulary),
        tokens_(std::move(tokens)),
        stride_(options.stride),
        size_((std::ssize(tokens_) - options.length - 1) / options.stride + 1) {
    if (options.limit > 0) size_ = std::min(size_, options.limit);
    Hash128 hash;
    hash.update(vocabulary_json(*vocabulary));
    hash.update(std::as_bytes(std::span(tokens_)));
    for (const std::int64_t number :
         {size_, stride_, steps(), std::int64_t{options.predict == Predicted::every}}) {
      hash.update(" " + std::to_string(number));
    }
    fingerprint_ = hash.hex();
  }

  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] std::int64_t classes() const override { return vocabulary()->size(); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }
  void read_tokens(std::int64_t index, std::span<std::int32_t> out) const override {
    std::copy_n(tokens_.data() + index * stride_, out.size(), out.data());
  }
  void read_labels(std::int64_t index, std::span<std::int32_t> out) const override {
    const std::int64_t end = index * stride_ + steps() + 1;
    std::copy_n(tokens_.data() + end - std::ssize(out), out.size(), out.data());
  }

 private:
  std::vector<std::int32_t> tokens_;
  std::int64_t stride_;
  std::int64_t size_;
  std::string fingerprint_;
};

std::string checked_text(const fs::path& path, const TextOptions& options) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string text = read_text(path, ErrorKind::data, kMostTextBytes);
  if (text.empty()) bad_file(path, "is empty; expected a text");
  if (options.unit != TextUnit::bytes) {
    require_utf8(text, path.string(), "; convert the file, or set 'unit: bytes'");
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  }
  return options.lower_case ? lower_case(text) : text;
}

std::int64_t units_of(std::string_view text, const TextOptions& options, const std::string& name) {
  std::int64_t units = 0;
  for_each_unit(text, options.unit, name, [&](std::string_view) { ++units; });
  return units;
}

/// The vocabulary of `vocabulary_from`.
Vocabulary given_vocabulary(const TextOptions& options) {
  const fs::path from = located(options.vocabulary_from);
  if (from.extension() != ".json") {
    return vocabulary_of_text(checked_text(from, options), options.unit,
                              std::numeric_limits<std::int64_t>::max(), options.vocabulary,
                              from.string());
  }
  Vocabulary vocabulary =
      parse_vocabulary(read_text(from, ErrorKind::data, kMostTextBytes), from.string());
  if (vocabulary.unit() != options.unit) {
    bad_file(from, "is a vocabulary of another 'unit' than the source's");
  }
  return vocabulary;
}

/// The tokens of a text, of which `train` are for training, and their vocabulary.
struct TokenizedText {
  std::vector<std::int32_t> tokens;
  std::int64_t train = 0;
  std::shared_ptr<const Vocabulary> vocabulary;
};

TokenizedText tokenized(const TextOptions& options, double fraction) {
  const fs::path path = located(options.file);
  const std::string text = checked_text(path, options);
  const std::int64_t units = units_of(text, options, path.string());
  TokenizedText result;
  result.train =
      units - static_cast<std::int64_t>(std::floor(static_cast<double>(units) * fraction));
  result.vocabulary = std::make_shared<const Vocabulary>(
      options.vocabulary_from.empty()
          ? vocabulary_of_text(text, options.unit, result.train, options.vocabulary, path.string())
          : given_vocabulary(options));
  result.tokens = tokens_of_text(text, *result.vocabulary, path.string());
  return result;
}

DatasetPtr windows_of(std::vector<std::int32_t> tokens,
                      std::shared_ptr<const Vocabulary> vocabulary, const TextOptions& options,
                      const std::string& part) {
  if (std::ssize(tokens) <= options.length) {
    bad_file(located(options.file),
             part + "has " + std::to_string(tokens.size()) + " tokens, expected at least " +
                 std::to_string(options.length + 1) + ": one more than 'length'");
  }
  return std::make_unique<TextWindows>(std::move(tokens), std::move(vocabulary), options);
}

class TextSource final : public DatasetSource {
 public:
  explicit TextSource(TextOptions options) : options_(std::move(options)) {}
  [[nodiscard]] std::string_view name() const override { return "text"; }
  [[nodiscard]] DatasetPtr open(const Opening& /*opening*/) const override {
    return open_text(options_);
  }
  [[nodiscard]] DatasetPtr open_part(const Opening& /*opening*/, double fraction,
                                     Part part) const override {
    return open_text_part(options_, fraction, part);
  }

 private:
  TextOptions options_;
};

}  // namespace

void declare(config::Fields& fields, TextOptions& options) {
  fields.required("file", options.file, "the text: UTF-8, or anything as bytes");
  fields.field("unit", options.unit, "what a token is: a character, a byte, a word between blanks");
  fields.field("vocabulary", options.vocabulary,
               "number of tokens: '<unknown>' and the most frequent ones; 0: all of the training "
               "text, none unknown",
               {.minimum = 0, .maximum = 1 << 24});
  fields.field("vocabulary_from", options.vocabulary_from,
               "a run's vocabulary.json, or the text that the vocabulary is made of; without it "
               "the training text");
  fields.field("length", options.length, "tokens of a window", {.minimum = 1, .maximum = 65536});
  fields.field("stride", options.stride, "tokens from a window's begin to the next one's",
               {.minimum = 1});
  fields.field("predict", options.predict,
               "last: the token after a window; every: the token after each position");
  fields.field("lower_case", options.lower_case, "makes the letters A to Z small");
  declare_common(fields, options);
  if (!fields.describing() && options.vocabulary == 1) {
    fields.error("vocabulary", "expected 0 or at least 2: '<unknown>' is one of the tokens");
  }
}

DatasetPtr open_text(const TextOptions& options) {
  TokenizedText text = tokenized(options, 0);
  return windows_of(std::move(text.tokens), std::move(text.vocabulary), options, "");
}

DatasetPtr open_text_part(const TextOptions& options, double fraction, Part part) {
  TokenizedText text = tokenized(options, fraction);
  const auto cut = text.tokens.begin() + text.train;
  if (part == Part::train) {
    text.tokens.erase(cut, text.tokens.end());
  } else {
    text.tokens.erase(text.tokens.begin(), cut);
  }
  return windows_of(std::move(text.tokens), std::move(text.vocabulary), options,
                    part == Part::train ? "its training part " : "its validation part ");
}

std::unique_ptr<DatasetSource> read_text_source(config::Fields& fields) {
  TextOptions options;
  declare(fields, options);
  return std::make_unique<TextSource>(options);
}

}  // namespace trainyard
