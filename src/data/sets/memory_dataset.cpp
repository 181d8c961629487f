#include "data/sets/memory_dataset.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

MemoryField field_of(SampleField of, const std::vector<std::int32_t>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {.of = std::move(of), .values = {bytes.begin(), bytes.end()}};
}

void add_to_hash(Hash128& hash, std::span<const MemoryField> fields) {
  for (const MemoryField& field : fields) {
    hash.update(field.of.name + "\n");
    hash.update(field.values);
  }
}

MemoryDataset::MemoryDataset(MemorySamples samples, std::int64_t limit)
    : samples_(std::move(samples)) {
  hold();
  check();
  if (limit <= 0 || limit >= size()) return;
  const std::size_t count = static_cast<std::size_t>(limit);
  const std::size_t elements = static_cast<std::size_t>(samples_.image.elements());
  samples_.labels.resize(count * labels_each());
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
  const std::size_t samples = held_.labels.size() / labels_each();
  TY_CHECK(samples > 0, "a dataset without samples");
  TY_CHECK(samples * labels_each() == held_.labels.size(), "as many labels of each sample");
  TY_CHECK(held_.bytes.empty() || held_.floats.empty(), "samples both as bytes and floats");
  TY_CHECK(held_.fields.size() == samples_.fields.size(), "values of each field");
  for (std::size_t i = 0; i < held_.fields.size(); ++i) {
    TY_CHECK(held_.fields[i].size() == samples * samples_.fields[i].of.bytes(),
             "fields and labels differ in number");
  }
  TY_CHECK(stored == samples * elements, "images and labels differ in number");
}

std::int64_t MemoryDataset::size() const {
  return static_cast<std::int64_t>(held_.labels.size() / labels_each());
}

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
  std::vector<SampleField> fields{SampleField{.shape = samples_.label}};
  for (const MemoryField& field : samples_.fields) fields.push_back(field.of);
  return fields;
}

void MemoryDataset::read_field(std::size_t field, std::int64_t index, std::byte* out) const {
  const std::span<const std::byte> values =
      field == 0 ? std::as_bytes(held_.labels) : held_.fields[field - 1];
  const std::size_t bytes =
      field == 0 ? labels_each() * sizeof(std::int32_t) : samples_.fields[field - 1].of.bytes();
  std::ranges::copy(values.subspan(static_cast<std::size_t>(index) * bytes, bytes), out);
}

std::int32_t MemoryDataset::label(std::int64_t index) const {
  return held_.labels[(static_cast<std::size_t>(index) + 1) * labels_each() - 1];
}

std::string MemoryDataset::file(std::int64_t index) const {
  const auto& files = samples_.files.files;
  return files.empty() ? "" : files[static_cast<std::size_t>(index)].name;
}

std::int64_t MemoryDataset::origin(std::int64_t index) const {
  return samples_.origins.empty() ? index : samples_.origins[static_cast<std::size_t>(index)];
}

}  // namespace trainyard
