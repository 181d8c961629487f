#include "data/sets/token_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace trainyard {

namespace {

/// The i32 of a field, which the feeder's memory aligns.
std::span<std::int32_t> numbers_at(std::byte* out, std::int64_t count) {
  return {reinterpret_cast<std::int32_t*>(out), static_cast<std::size_t>(count)};
}

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

DatasetPtr token_set_of(TokenSamples samples, std::int64_t limit) {
  const Shape steps{samples.steps};
  MemorySamples held{.image = kNoImage,
                     .labels = std::move(samples.labels),
                     .label = samples.form == LabelForm::each ? steps : Shape{},
                     .classes = samples.classes,
                     .class_names = std::move(samples.class_names),
                     .vocabulary = std::move(samples.vocabulary),
                     .fingerprint = std::move(samples.fingerprint),
                     .origins = std::move(samples.origins)};
  held.fields.push_back(field_of({.name = kTokensField, .shape = steps}, samples.tokens));
  if (!samples.lengths.empty()) {
    held.fields.push_back(
        field_of({.name = kLengthField, .padding = samples.padding}, samples.lengths));
  }
  std::ranges::move(samples.fields, std::back_inserter(held.fields));
  return std::make_unique<MemoryDataset>(std::move(held), limit);
}

std::int64_t fit_at_front(std::span<const std::int32_t> tokens, std::span<std::int32_t> out) {
  const std::size_t kept = std::min(tokens.size(), out.size());
  std::ranges::fill(out, 0);
  std::ranges::copy(tokens.last(kept), out.end() - static_cast<std::ptrdiff_t>(kept));
  return static_cast<std::int64_t>(kept);
}

}  // namespace trainyard
