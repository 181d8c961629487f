#include "data/augment/erasing.h"

#include <algorithm>

#include "base/error.h"
#include "data/augment/number_keys.h"

namespace trainyard {

namespace {

/// A step that erases to one value, or to one per channel.
ColourTransform erase_to(std::span<const float> values) {
  ColourTransform step{.change = Erase::kNumber};
  for (std::size_t c = 0; c < kMostColourChannels; ++c) {
    step.amount[c] = values[std::min(c, values.size() - 1)];
  }
  return step;
}

}  // namespace

void Cutout::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                     ColourTransform* out) const {
  const Random4 random = augment_words(key, draw);
  const float value = static_cast<float>(value_);
  *out = erase_to({&value, 1});
  const auto side = [&](std::int64_t extent, std::uint32_t word, std::int32_t* ends) {
    const std::int64_t first = drawn_index(extent - 1, word) - size_ / 2;
    ends[0] = static_cast<std::int32_t>(std::max<std::int64_t>(first, 0));
    ends[1] = static_cast<std::int32_t>(std::min(first + size_, extent));
  };
  side(shape[1], random.word[0], out->box);
  side(shape[2], random.word[1], out->box + 2);
}

RandomErasing::RandomErasing(RandomErasingOptions options)
    : options_(std::move(options)),
      window_{.area = options_.scale, .aspect = {1 / options_.ratio.low, 1 / options_.ratio.high}} {
}

Shape RandomErasing::output_shape(const Shape& shape) const {
  const auto values = std::ssize(options_.value);
  if (values <= 1 || values == shape[0]) return shape;
  throw Error(ErrorKind::config, "random_erasing: " + std::to_string(values) +
                                     " values for images of " + std::to_string(shape[0]) +
                                     " channels; give one value, or one per channel");
}

void RandomErasing::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                            ColourTransform* out) const {
  *out = {};
  const Random4 random = augment_words(key, draw, kWindowTries);
  if (!happens(options_.probability, random.word[0])) return;
  const auto smaller = [&](std::int64_t h, std::int64_t w) { return h < shape[1] && w < shape[2]; };
  const std::optional<ImageWindow> window = random_window(window_, key, draw, shape, smaller);
  if (!window) return;
  if (options_.value.empty()) {
    out->change = EraseRandomly::kNumber;
    out->seed = std::uint64_t{random.word[1]} << 32 | random.word[2];
  } else {
    *out = erase_to(options_.value);
  }
  const std::int64_t ends[] = {window->y, window->y + window->h, window->x, window->x + window->w};
  std::ranges::transform(ends, out->box,
                         [](std::int64_t end) { return static_cast<std::int32_t>(end); });
}

std::unique_ptr<Augmentation> Cutout::read(config::Fields& fields) {
  std::int64_t size = 0;
  double value = 0;
  fields.required("size", size, "side of the square, in pixels", {.minimum = 1, .maximum = 16384});
  fields.field("value", value, "value of its pixels, before preprocessing");
  return std::make_unique<Cutout>(size, value);
}

std::unique_ptr<Augmentation> RandomErasing::read(config::Fields& fields) {
  RandomErasingOptions options;
  config::Node value = config::scalar_node("0", false, {});
  fields.field("probability", options.probability, "chance of erasing a sample",
               {.minimum = 0, .maximum = 1});
  read_bounds(fields, "scale", options.scale, "area of the window, a part of the image's",
              {.minimum = 0, .maximum = 1});
  read_bounds(fields, "ratio", options.ratio, "height / width of the window",
              {.minimum = 1e-3, .maximum = 1e3});
  fields.field("value", value,
               "value of the pixels, before preprocessing: one, one per channel, or 'random'");
  if (fields.describing()) return std::make_unique<RandomErasing>(options);
  options.value = numbers_or_word(fields, "value", value, "random");
  if (std::ssize(options.value) > kMostColourChannels) {
    fields.error("value", "expected at most " + std::to_string(kMostColourChannels) +
                              " numbers, found " + std::to_string(options.value.size()));
  }
  return std::make_unique<RandomErasing>(options);
}

}  // namespace trainyard
