#include "data/cutout.h"

#include <algorithm>

namespace trainyard {

void Cutout::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                     ColourStep* out) const {
  const Random4 random = augment_words(key, draw);
  *out = {.kind = ColourStep::Kind::erase, .amount = {static_cast<float>(value_)}};
  const auto side = [&](std::int64_t extent, std::uint32_t word, std::int32_t* ends) {
    const std::int64_t first = drawn_index(extent - 1, word) - size_ / 2;
    ends[0] = static_cast<std::int32_t>(std::max<std::int64_t>(first, 0));
    ends[1] = static_cast<std::int32_t>(std::min(first + size_, extent));
  };
  side(shape[1], random.word[0], out->box);
  side(shape[2], random.word[1], out->box + 2);
}

std::unique_ptr<Augmentation> read_cutout(config::Fields& fields) {
  std::int64_t size = 0;
  double value = 0;
  fields.required("size", size, "of the square, in pixels", {.minimum = 1, .maximum = 16384});
  fields.field("value", value, "of its pixels, before preprocessing");
  return std::make_unique<Cutout>(size, value);
}

}  // namespace trainyard
