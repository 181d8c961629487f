#include "data/token_set.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

namespace {

/// The place of the field of lengths.
constexpr std::size_t kLengths = 2;

/// The i32 of a field, which the feeder's memory aligns.
std::span<std::int32_t> numbers_at(std::byte* out, std::int64_t count) {
  return {reinterpret_cast<std::int32_t*>(out), static_cast<std::size_t>(count)};
}

class HeldTokens final : public TokenSet {
 public:
  HeldTokens(TokenSamples samples, std::int64_t limit)
      : TokenSet(samples.steps, samples.form, samples.vocabulary),
        samples_(std::move(samples)),
        size_(std::ssize(samples_.tokens) / samples_.steps) {
    TY_CHECK(size_ > 0 && std::ssize(samples_.labels) == size_ * labels_each(),
             "a label of each sequence");
    if (limit > 0) size_ = std::min(size_, limit);
  }

  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] std::int64_t classes() const override { return samples_.classes; }
  [[nodiscard]] std::vector<std::string> class_names() const override {
    return samples_.class_names;
  }
  [[nodiscard]] std::string fingerprint() const override { return samples_.fingerprint; }
  [[nodiscard]] std::vector<SampleField> fields() const override {
    std::vector<SampleField> fields = TokenSet::fields();
    if (!samples_.lengths.empty()) fields.push_back({.name = kLengthField});
    return fields;
  }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    if (field < kLengths) return TokenSet::read_field(field, index, out);
    numbers_at(out, 1)[0] = samples_.lengths[static_cast<std::size_t>(index)];
  }
  void read_tokens(std::int64_t index, std::span<std::int32_t> out) const override {
    std::copy_n(samples_.tokens.data() + index * steps(), out.size(), out.data());
  }
  void read_labels(std::int64_t index, std::span<std::int32_t> out) const override {
    std::copy_n(samples_.labels.data() + index * labels_each(), out.size(), out.data());
  }

 private:
  [[nodiscard]] std::int64_t labels_each() const {
    return samples_.form == LabelForm::each ? steps() : 1;
  }

  TokenSamples samples_;
  std::int64_t size_;
};

}  // namespace

std::int32_t TokenSet::label(std::int64_t index) const {
  std::vector<std::int32_t> labels(form_ == LabelForm::each ? static_cast<std::size_t>(steps_) : 1);
  read_labels(index, labels);
  return labels.back();
}

std::vector<SampleField> TokenSet::fields() const {
  return {{.name = kLabelField, .shape = form_ == LabelForm::each ? Shape{steps_} : Shape{}},
          {.name = kTokensField, .shape = {steps_}}};
}

void TokenSet::read_field(std::size_t field, std::int64_t index, std::byte* out) const {
  if (field == 1) return read_tokens(index, numbers_at(out, steps_));
  TY_CHECK(field == 0, "a set with fields after its tokens reads them itself");
  read_labels(index, numbers_at(out, form_ == LabelForm::each ? steps_ : 1));
}

std::unique_ptr<Dataset> token_set_of(TokenSamples samples, std::int64_t limit) {
  return std::make_unique<HeldTokens>(std::move(samples), limit);
}

std::int64_t fit_at_front(std::span<const std::int32_t> tokens, std::span<std::int32_t> out) {
  const std::size_t kept = std::min(tokens.size(), out.size());
  std::ranges::fill(out, 0);
  std::ranges::copy(tokens.last(kept), out.end() - static_cast<std::ptrdiff_t>(kept));
  return static_cast<std::int64_t>(kept);
}

}  // namespace trainyard
