#include "data/feed/batch_fields.h"

#include <algorithm>

#include "base/error.h"
#include "data/feed/mixed_batch.h"

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

}  // namespace trainyard
