// Data sets whose samples are sequences of tokens.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/sets/memory_dataset.h"

namespace trainyard {

/// What the label of a sequence is: one class, or one for each position.
enum class LabelForm { one, each };

/// Samples with the fields `label`, i32 [] or [t], and `tokens`, i32 [t], and no image.
class TokenSet : public Dataset {
 public:
  [[nodiscard]] Shape image_shape() const final { return kNoImage; }
  void read(std::int64_t /*index*/, float* /*image*/) const final {}
  [[nodiscard]] std::int32_t label(std::int64_t index) const final;
  [[nodiscard]] std::vector<SampleField> fields() const override;
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override;
  [[nodiscard]] const Vocabulary* vocabulary() const final { return vocabulary_.get(); }

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Writes the tokens of a sample, [steps], in [0, vocabulary()->size()).
  virtual void read_tokens(std::int64_t index, std::span<std::int32_t> out) const = 0;
  /// Writes its label, [1] or [steps].
  virtual void read_labels(std::int64_t index, std::span<std::int32_t> out) const = 0;

 protected:
  TokenSet(std::int64_t steps, LabelForm form, std::shared_ptr<const Vocabulary> vocabulary)
      : steps_(steps), form_(form), vocabulary_(std::move(vocabulary)) {}

 private:
  std::int64_t steps_;
  LabelForm form_;
  std::shared_ptr<const Vocabulary> vocabulary_;  // shared: the parts of a text have one
};

/// The contents of a set of sequences in memory.
struct TokenSamples {
  std::int64_t steps = 0;
  std::vector<std::int32_t> tokens;        // [n, steps]
  std::vector<std::int32_t> labels;        // [n] or [n, steps]
  std::vector<std::int32_t> lengths = {};  // [n]; empty: there is no such field
  PaddingSide padding = PaddingSide::end;  // what those leave
  LabelForm form = LabelForm::one;
  std::int64_t classes = 0;
  std::vector<std::string> class_names = {};
  std::shared_ptr<const Vocabulary> vocabulary;
  std::string fingerprint;
  std::vector<std::int64_t> origins = {};  // Dataset::origin(); empty: the samples' own indices
  std::vector<MemoryField> fields = {};    // further ones
};

/// At most the first `limit` of them (0: all).
[[nodiscard]] DatasetPtr token_set_of(TokenSamples samples, std::int64_t limit = 0);

/// Puts `tokens` into `out` as Keras's pad_sequences does: the last of them if there are too many,
/// after zeros if there are too few. Returns how many there are in `out`.
std::int64_t fit_at_front(std::span<const std::int32_t> tokens, std::span<std::int32_t> out);

}  // namespace trainyard
