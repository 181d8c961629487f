#include "data/feed/time_step_mask.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace trainyard {

namespace {

std::int32_t length_of(const Dataset& set, std::size_t field, std::int64_t index) {
  std::int32_t length = 0;
  set.read_field(field, index, reinterpret_cast<std::byte*>(&length));
  return length;
}

}  // namespace

std::int64_t sequence_steps(const Dataset& set) {
  const std::vector<SampleField> fields = set.fields();
  const auto tokens = std::ranges::find(fields, kTokensField, &SampleField::name);
  if (tokens != fields.end()) return tokens->shape[0];
  return set.image_shape()[1] == 1 ? set.image_shape()[2] : 0;
}

TimeStepMask::TimeStepMask(const Dataset& set) : steps_(sequence_steps(set)) {
  const std::vector<SampleField> fields = set.fields();
  const auto found = std::ranges::find(fields, kLengthField, &SampleField::name);
  if (found == fields.end() || found->type != DType::i32 || found->shape.rank() != 0) {
    throw Error(ErrorKind::config,
                "the network's input has 'lengths: true', but the data have no field 'length' with "
                "a whole number for each sample; add it to the data, or remove 'lengths'");
  }
  field_ = static_cast<std::size_t>(found - fields.begin());
  padding_ = found->padding;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    const std::int32_t length = length_of(set, field_, i);
    if (length >= 0 && length <= steps_) continue;
    throw Error(ErrorKind::data, "sample " + std::to_string(i) + " (from 0) has length " +
                                     std::to_string(length) + ", expected 0 to " +
                                     std::to_string(steps_) + ", the steps of a sample");
  }
}

std::size_t TimeStepMask::bytes() const {
  return static_cast<std::size_t>(steps_) * sizeof(std::int32_t);
}

void TimeStepMask::read(const Dataset& set, std::int64_t index, std::byte* out) const {
  const std::span mask(reinterpret_cast<std::int32_t*>(out), static_cast<std::size_t>(steps_));
  const auto length = static_cast<std::size_t>(length_of(set, field_, index));
  std::ranges::fill(mask, 0);
  std::ranges::fill(padding_ == PaddingSide::end ? mask.first(length) : mask.last(length), 1);
}

}  // namespace trainyard
