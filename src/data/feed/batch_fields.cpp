#include "data/feed/batch_fields.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

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
