#include "data/feed/batch_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

std::int32_t length_of(const Dataset& set, std::size_t field, std::int64_t index) {
  std::int32_t length = 0;
  set.read_field(field, index, reinterpret_cast<std::byte*>(&length));
  return length;
}

BatchField find_field(const Dataset& set, const std::string& name) {
  if (name == kMaskField) {
    const TimeStepMask mask(set);
    return {.bytes = mask.bytes(), .mask = mask};
  }
  if (name == kMixField) return {.bytes = sizeof(MixedTarget), .mixed = true};
  const std::vector<SampleField> fields = set.fields();
  const auto found = std::ranges::find(fields, name, &SampleField::name);
  if (found != fields.end()) {
    return {.index = static_cast<std::size_t>(found - fields.begin()), .bytes = found->bytes()};
  }
  std::string known;
  for (const SampleField& field : fields) known += (known.empty() ? "'" : ", '") + field.name + "'";
  throw Error(ErrorKind::config,
              "the data have no field '" + name + "'; their fields are " + known);
}

}  // namespace

float ClassWeightPolicy::weight(std::int32_t label, float own) const {
  if (label == ignored) return 0;
  float result = own;
  if (!of_class.empty()) {
    const bool is_class = label >= 0 && label < std::ssize(of_class);
    result *= is_class ? of_class[static_cast<std::size_t>(label)] : 0;
  }
  return counts_only && result > 0 ? 1 : result;
}

ClassWeightPolicy ClassWeightPolicy::counting() const {
  ClassWeightPolicy rule = *this;
  rule.counts_only = true;
  return rule;
}

void require_weight(float own, const std::string& field, std::int64_t index) {
  if (std::isfinite(own) && own >= 0) return;
  throw Error(ErrorKind::data, "sample " + std::to_string(index) + " (from 0): '" + field +
                                   "' is " + number_text(own) +
                                   "; the weight of a sample is a number of at least 0");
}

std::vector<float> balanced_weights(std::span<const std::int32_t> labels, std::int64_t classes,
                                    std::optional<std::int32_t> ignored) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(classes), 0);
  std::int64_t all = 0;
  for (const std::int32_t label : labels) {
    if (label < 0 || label >= classes || label == ignored) continue;
    ++counts[static_cast<std::size_t>(label)];
    ++all;
  }
  std::vector<float> weights;
  for (const std::int64_t count : counts) {
    const double even = static_cast<double>(all) / static_cast<double>(classes);
    weights.push_back(count == 0 ? 0 : static_cast<float>(even / static_cast<double>(count)));
  }
  return weights;
}

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

std::vector<BatchField> find_fields(const Dataset& set, const std::vector<std::string>& names) {
  std::vector<BatchField> found;
  for (const std::string& name : names) found.push_back(find_field(set, name));
  return found;
}

std::optional<BatchField> find_own_weights(const Dataset& set,
                                           const std::optional<ClassWeightPolicy>& weights) {
  if (!weights || weights->field.empty()) return std::nullopt;
  const BatchField found = find_field(set, weights->field);
  const SampleField field = set.fields()[found.index];
  if (field.type == DType::f32 && field.shape.elements() == 1) return found;
  throw Error(ErrorKind::config, "field '" + field.name + "' of the data is " +
                                     std::string(name_of(field.type)) + " " + field.shape.text() +
                                     ", expected a weight: one f32 a sample");
}

std::optional<BatchField> find_mask(const Dataset& set,
                                    const std::optional<ClassWeightPolicy>& weights) {
  if (!weights || weights->mask.empty()) return std::nullopt;
  return find_field(set, weights->mask);
}

std::int64_t labels_of_sample(const Dataset& set) {
  const std::vector<SampleField> known = set.fields();
  const auto label = std::ranges::find(known, kLabelField, &SampleField::name);
  return label == known.end() ? 1 : label->shape.elements();
}

namespace {

/// A label and its weight in a target.
struct TargetPart {
  std::int32_t label;
  float weight;
};

/// Writes sample `at` of a batch with these parts.
void write_target(TargetPart own, TargetPart other, std::size_t at, const MixedBatch& batch) {
  if (other.weight > own.weight) std::swap(own, other);
  const float weight = own.weight + other.weight;
  batch.labels[at] = own.label;
  if (!batch.weights.empty()) batch.weights[at] = weight;
  batch.targets[at] = {};
  if (!(other.weight > 0)) return;
  batch.targets[at] = {static_cast<float>(other.label), other.weight / weight};
}

void mix_targets(float share, std::size_t first, const MixedBatch& batch) {
  const auto part = [&](std::size_t at, float of) {
    return TargetPart{batch.labels[at], batch.weights.empty() ? of : of * batch.weights[at]};
  };
  const std::size_t second = first + 1;
  const float rest = 1.0F - share;
  const TargetPart parts[] = {part(first, share), part(second, rest), part(second, share),
                              part(first, rest)};
  write_target(parts[0], parts[1], first, batch);
  write_target(parts[2], parts[3], second, batch);
}

}  // namespace

void mix_pair(const PairMix& mix, const Shape& shape, std::int64_t pair, const MixedBatch& batch) {
  if (!batch.mixes.empty()) batch.mixes[static_cast<std::size_t>(pair)] = mix;
  const std::int64_t elements = shape.elements();
  float* const first = batch.images.data() + 2 * pair * elements;
  if (!batch.images.empty()) mix_samples(mix, shape, first, first + elements);
  mix_targets(mix.share, static_cast<std::size_t>(2 * pair), batch);
}

}  // namespace trainyard
