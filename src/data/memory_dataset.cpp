#include "data/memory_dataset.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

MemoryDataset::MemoryDataset(MemorySamples samples, std::int64_t limit)
    : samples_(std::move(samples)) {
  const std::size_t elements = static_cast<std::size_t>(samples_.image.elements());
  const std::size_t stored = samples_.bytes.size() + samples_.floats.size();
  TY_CHECK(!samples_.labels.empty(), "a dataset without samples");
  TY_CHECK(samples_.bytes.empty() || samples_.floats.empty(), "samples both as bytes and floats");
  TY_CHECK(stored == samples_.labels.size() * elements, "images and labels differ in number");
  if (limit <= 0 || limit >= size()) return;
  const std::size_t count = static_cast<std::size_t>(limit);
  samples_.labels.resize(count);
  samples_.bytes.resize(std::min(samples_.bytes.size(), count * elements));
  samples_.floats.resize(std::min(samples_.floats.size(), count * elements));
}

std::int64_t MemoryDataset::size() const {
  return static_cast<std::int64_t>(samples_.labels.size());
}

void MemoryDataset::read(std::int64_t index, float* image) const {
  const std::int64_t elements = samples_.image.elements();
  if (samples_.bytes.empty()) {
    std::copy_n(samples_.floats.data() + index * elements, elements, image);
    return;
  }
  const std::uint8_t* from = samples_.bytes.data() + index * elements;
  for (std::int64_t i = 0; i < elements; ++i) image[i] = from[i];
}

std::int32_t MemoryDataset::label(std::int64_t index) const {
  return samples_.labels[static_cast<std::size_t>(index)];
}

}  // namespace trainyard
