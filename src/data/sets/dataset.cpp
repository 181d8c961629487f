#include "data/sets/dataset.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "data/sets/table_form.h"

namespace trainyard {

void Dataset::read_field(std::size_t field, std::int64_t index, std::byte* out) const {
  TY_CHECK(field == 0, "a set with fields after its label reads them itself");
  const std::int32_t of_sample = label(index);
  std::memcpy(out, &of_sample, sizeof of_sample);
}

void Dataset::read_bytes(std::int64_t index, std::uint8_t* image) const {
  const std::int64_t elements = image_shape().elements();
  std::copy_n(held().bytes.data() + index * elements, elements, image);
}

std::string sample_name(const Dataset& set, std::int64_t index) {
  std::string file = set.file(index);
  return file.empty() ? std::to_string(set.origin(index)) : file;
}

std::string sample_text(const Dataset& set) {
  if (!has_images(set)) {
    for (const SampleField& field : set.fields()) {
      if (field.name == kTokensField) return "of " + std::to_string(field.shape[0]) + " tokens";
    }
  }
  const Shape image = set.image_shape();
  if (set.table() != nullptr) return "[" + std::to_string(image[0]) + "]";
  return image[1] > 0 ? image.text() : "of several sizes";
}

std::vector<SampleField> fitted_fields(const Dataset& set) {
  std::vector<SampleField> fields = set.fields();
  std::erase_if(fields, [](const SampleField& of) { return of.mean.empty() && of.words.empty(); });
  return fields;
}

Opening following(Opening opening, const Dataset& train) {
  const Vocabulary* const vocabulary = train.vocabulary();
  const TableForm* const table = train.table();
  if (vocabulary != nullptr) opening.form.vocabulary = copy_of(*vocabulary);
  if (table != nullptr) opening.form.table = std::make_shared<const TableForm>(*table);
  opening.form.fields = fitted_fields(train);
  return opening;
}

FloatImage image_of(const Dataset& set, std::int64_t index) {
  FloatImage image{set.sample_shape(index), {}};
  image.values.resize(static_cast<std::size_t>(image.shape.elements()));
  set.read(index, image.values.data());
  return image;
}

void ValueRange::take(const std::vector<float>& values) {
  for (const float value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  count += std::ssize(values);
}

Image colored(const FloatImage& sample, const ValueRange& range) {
  const ImageSize size{sample.shape[1], sample.shape[2]};
  const std::int64_t planes = sample.shape[0];
  Image image(size, planes == 3 ? 3 : 1);
  const float scale = range.most > range.least ? 255 / (range.most - range.least) : 1;
  for (std::int64_t i = 0; i < size.pixels(); ++i) {
    for (int c = 0; c < image.channels(); ++c) {
      const float value = sample.values[static_cast<std::size_t>(c * size.pixels() + i)];
      const float color = std::round((value - range.least) * scale);
      image.row(0)[i * image.channels() + c] =
          static_cast<std::uint8_t>(std::clamp(color, 0.0f, 255.0f));
    }
  }
  return image;
}

}  // namespace trainyard
