#include "data/text/synthetic_sequences.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"

namespace trainyard {

namespace {

// Draws 0 and 1 are the splits' samples.
constexpr std::uint32_t kSequenceClassDraw = 3;
constexpr std::uint32_t kSequenceLengthDraw = 4;

std::int64_t sequences_of(const SyntheticSequencesOptions& options) {
  return options.limit > 0 ? std::min(options.limit, options.size) : options.size;
}

std::string sequence_fingerprint(const SyntheticSequencesOptions& options, std::uint64_t seed) {
  std::string text = "synthetic sequences";
  if (options.lengths) text += " with lengths";
  for (const std::int64_t number :
       {options.steps, options.features, options.vocabulary, options.classes,
        static_cast<std::int64_t>(options.labels), sequences_of(options),
        static_cast<std::int64_t>(options.split), std::int64_t{options.learnable}}) {
    text += " " + std::to_string(number);
  }
  return hash128_hex(text + " " + std::to_string(seed));
}

/// The draw of element `i` of sample `index`: word 0 chooses a value, word 1 whether it is used.
Random4 sequence_draw(const SyntheticSequencesOptions& options, std::uint64_t seed,
                      std::int64_t index, std::int64_t i) {
  return random4(seed, RandomStream::synthetic, static_cast<std::uint32_t>(i),
                 static_cast<std::uint32_t>(options.split), static_cast<std::uint64_t>(index));
}

/// Word 0 of the draw of element `i` of a class.
std::uint32_t class_word(std::uint64_t seed, std::int64_t of_class, std::int64_t i) {
  return random4(seed, RandomStream::synthetic, static_cast<std::uint32_t>(of_class),
                 kSequenceClassDraw, static_cast<std::uint64_t>(i))
      .word[0];
}

/// True for three of four elements of learnable samples.
bool follows_rule(const SyntheticSequencesOptions& options, const Random4& random) {
  return options.learnable && random.word[1] % 4 != 0;
}

class SyntheticNumbers final : public Dataset {
 public:
  SyntheticNumbers(const SyntheticSequencesOptions& options, std::uint64_t seed)
      : options_(options), seed_(seed) {}

  [[nodiscard]] std::int64_t size() const override { return sequences_of(options_); }
  [[nodiscard]] Shape image_shape() const override {
    return {options_.features, 1, options_.steps};
  }
  [[nodiscard]] std::int64_t classes() const override { return options_.classes; }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return static_cast<std::int32_t>(index % options_.classes);
  }
  void read(std::int64_t index, float* image) const override {
    const std::int64_t elements = options_.features * options_.steps, length = length_of(index);
    for (std::int64_t i = 0; i < elements; ++i) {
      image[i] = 0;
      if (i % options_.steps >= length) continue;
      const Random4 random = sequence_draw(options_, seed_, index, i);
      const std::uint32_t word =
          follows_rule(options_, random) ? class_word(seed_, label(index), i) : random.word[0];
      image[i] = static_cast<float>(word & 1);
    }
  }
  [[nodiscard]] std::vector<SampleField> fields() const override {
    std::vector<SampleField> fields = Dataset::fields();
    if (options_.lengths) fields.push_back({.name = kLengthField});
    return fields;
  }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    if (field == 0) return Dataset::read_field(field, index, out);
    const auto length = static_cast<std::int32_t>(length_of(index));
    std::memcpy(out, &length, sizeof length);
  }
  [[nodiscard]] std::string fingerprint() const override {
    return sequence_fingerprint(options_, seed_);
  }

 private:
  /// From 1 to the number of steps, or that number.
  [[nodiscard]] std::int64_t length_of(std::int64_t index) const {
    if (!options_.lengths) return options_.steps;
    const Random4 random =
        random4(seed_, RandomStream::synthetic, static_cast<std::uint32_t>(options_.split),
                kSequenceLengthDraw, static_cast<std::uint64_t>(index));
    return 1 + random.word[0] % options_.steps;
  }

  SyntheticSequencesOptions options_;
  std::uint64_t seed_;
};

class SyntheticTokens final : public TokenSet {
 public:
  SyntheticTokens(const SyntheticSequencesOptions& options, std::uint64_t seed)
      : TokenSet(options.steps,
                 options.labels == SequenceLabels::every ? LabelForm::each : LabelForm::one,
                 std::make_shared<Vocabulary>(numbered_vocabulary(options.vocabulary))),
        options_(options),
        seed_(seed) {}

  [[nodiscard]] std::int64_t size() const override { return sequences_of(options_); }
  [[nodiscard]] std::int64_t classes() const override {
    return of_classes() ? options_.classes : options_.vocabulary;
  }
  void read_tokens(std::int64_t index, std::span<std::int32_t> out) const override {
    std::int32_t before = 0;
    for (std::int64_t i = 0; i < std::ssize(out); ++i) {
      before = token(index, i, before);
      out[static_cast<std::size_t>(i)] = before;
    }
  }
  void read_labels(std::int64_t index, std::span<std::int32_t> out) const override {
    if (of_classes()) {
      out[0] = static_cast<std::int32_t>(index % options_.classes);
      return;
    }
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(options_.steps) + 1);
    read_tokens(index, tokens);
    std::ranges::copy(std::span(tokens).last(out.size()), out.begin());
  }
  [[nodiscard]] std::string fingerprint() const override {
    return sequence_fingerprint(options_, seed_);
  }

 private:
  [[nodiscard]] bool of_classes() const { return options_.labels == SequenceLabels::classes; }
  /// Token `i` of a sample, after token `before`.
  [[nodiscard]] std::int32_t token(std::int64_t index, std::int64_t i, std::int32_t before) const {
    const Random4 random = sequence_draw(options_, seed_, index, i);
    std::uint64_t word = random.word[0];
    if (follows_rule(options_, random) && of_classes()) {
      word = class_word(seed_, index % options_.classes, i);
    } else if (follows_rule(options_, random) && i > 0) {
      word = static_cast<std::uint64_t>(before) + 1;
    }
    return static_cast<std::int32_t>(word % static_cast<std::uint64_t>(options_.vocabulary));
  }

  SyntheticSequencesOptions options_;
  std::uint64_t seed_;
};

}  // namespace

void declare(config::Fields& fields, SyntheticSequencesOptions& options) {
  fields.field("steps", options.steps, "length of a sequence", {.minimum = 1, .maximum = 65536});
  fields.field("features", options.features, "numbers of a step, 0 or 1 each", {.minimum = 0});
  fields.field("vocabulary", options.vocabulary, "or: number of different tokens",
               {.minimum = 0, .maximum = 1 << 24});
  fields.field("lengths", options.lengths,
               "numeric sequences end early, with zeros after; the field 'length'");
  fields.field("classes", options.classes, "number of classes", {.minimum = 1});
  fields.field("labels", options.labels,
               "a class, or of tokens the next one, or the next one of every position");
  fields.field("size", options.size, "number of samples", {.minimum = 1});
  fields.field("split", options.split, "which split; both follow the same rule");
  fields.field("learnable", options.learnable, "three of four elements follow a rule");
  declare_common(fields, options);
  if (fields.describing()) return;
  if ((options.features > 0) == (options.vocabulary > 0)) {
    fields.error("", "'synthetic_sequences' requires either 'features' or 'vocabulary'");
  }
  if (options.features > 0 && options.labels != SequenceLabels::classes) {
    fields.error("labels", "numeric sequences have classes; give 'vocabulary' for tokens");
  }
  if (options.vocabulary > 0 && options.lengths) {
    fields.error("lengths", "'lengths' is for numeric sequences; give 'features'");
  }
}

DatasetPtr open_synthetic_sequences(const SyntheticSequencesOptions& options, std::uint64_t seed) {
  TY_CHECK((options.features > 0) != (options.vocabulary > 0), "numbers or tokens");
  if (options.features > 0) return std::make_unique<SyntheticNumbers>(options, seed);
  return std::make_unique<SyntheticTokens>(options, seed);
}

}  // namespace trainyard
