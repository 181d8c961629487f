#include "data/memory_dataset.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

MemoryDataset::MemoryDataset(MemorySamples samples, std::int64_t limit)
    : samples_(std::move(samples)) {
  hold();
  check();
  if (limit <= 0 || limit >= size()) return;
  const std::size_t count = static_cast<std::size_t>(limit);
  const std::size_t elements = static_cast<std::size_t>(samples_.image.elements());
  samples_.labels.resize(count);
  samples_.bytes.resize(std::min(samples_.bytes.size(), count * elements));
  samples_.floats.resize(std::min(samples_.floats.size(), count * elements));
  for (MemoryField& field : samples_.fields) field.values.resize(count * field.of.bytes());
  hold();
}

void MemoryDataset::hold() {
  held_ = {samples_.bytes, samples_.floats, samples_.labels};
  held_.fields.assign(samples_.fields.size(), {});
  for (std::size_t i = 0; i < held_.fields.size(); ++i) held_.fields[i] = samples_.fields[i].values;
}

MemoryDataset::MemoryDataset(MemorySamples samples, const HeldSamples& held,
                             std::shared_ptr<const void> owner)
    : samples_(std::move(samples)), held_(held), owner_(std::move(owner)) {
  check();
}

void MemoryDataset::check() const {
  const std::size_t elements = static_cast<std::size_t>(samples_.image.elements());
  const std::size_t stored = held_.bytes.size() + held_.floats.size();
  TY_CHECK(!held_.labels.empty(), "a dataset without samples");
  TY_CHECK(held_.bytes.empty() || held_.floats.empty(), "samples both as bytes and floats");
  TY_CHECK(held_.fields.size() == samples_.fields.size(), "values of each field");
  for (std::size_t i = 0; i < held_.fields.size(); ++i) {
    TY_CHECK(held_.fields[i].size() == held_.labels.size() * samples_.fields[i].of.bytes(),
             "fields and labels differ in number");
  }
  TY_CHECK(stored == held_.labels.size() * elements, "images and labels differ in number");
}

std::int64_t MemoryDataset::size() const { return std::ssize(held_.labels); }

void MemoryDataset::read(std::int64_t index, float* image) const {
  const std::int64_t elements = samples_.image.elements();
  if (held_.bytes.empty()) {
    std::copy_n(held_.floats.data() + index * elements, elements, image);
    return;
  }
  const std::uint8_t* from = held_.bytes.data() + index * elements;
  for (std::int64_t i = 0; i < elements; ++i) image[i] = from[i];
}

std::vector<SampleField> MemoryDataset::fields() const {
  std::vector<SampleField> fields{SampleField{}};
  for (const MemoryField& field : samples_.fields) fields.push_back(field.of);
  return fields;
}

void MemoryDataset::read_field(std::size_t field, std::int64_t index, std::byte* out) const {
  if (field == 0) return Dataset::read_field(field, index, out);
  const std::size_t bytes = samples_.fields[field - 1].of.bytes();
  const std::size_t first = static_cast<std::size_t>(index) * bytes;
  std::ranges::copy(held_.fields[field - 1].subspan(first, bytes), out);
}

std::int32_t MemoryDataset::label(std::int64_t index) const {
  return held_.labels[static_cast<std::size_t>(index)];
}

}  // namespace trainyard
