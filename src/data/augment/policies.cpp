#include "data/augment/policies.h"

#include <cmath>
#include <iterator>
#include <numbers>

#include "base/math.h"
#include "data/augment/random_change.h"

namespace trainyard {

ColourTransform moved_by(const Affine& map) {
  const auto fixed = [](double x) {
    return static_cast<std::int64_t>(std::floor(x * 65536.0 + 0.5));
  };
  return {.change = MovePixels::kNumber,
          .map = {fixed(map.xx), fixed(map.xy), fixed(map.x0 + map.xx * 0.5 + map.xy * 0.5),
                  fixed(map.yx), fixed(map.yy), fixed(map.y0 + map.yx * 0.5 + map.yy * 0.5)}};
}

Affine turned(double degrees, std::int64_t height, std::int64_t width) {
  // The last digits of a right angle's cosine would move its pixels.
  const auto rounded = [](double x) { return std::round(x * 1e15) / 1e15; };
  const double angle = -degrees * (std::numbers::pi / 180.0);
  const double cosine = rounded(std::cos(angle)), sine = rounded(std::sin(angle));
  const double y = static_cast<double>(height) / 2, x = static_cast<double>(width) / 2;
  return {.yy = cosine,
          .yx = -sine,
          .y0 = sine * x - cosine * y + y,
          .xy = sine,
          .xx = cosine,
          .x0 = -cosine * x - sine * y + x};
}

namespace {

/// An operation by a magnitude, of a sample of a shape.
using Made = ColourTransform (*)(double magnitude, const Shape& shape);

ColourTransform nothing(double, const Shape&) { return {}; }

template <class Change>
ColourTransform made(double, const Shape&) {
  return {.change = Change::kNumber};
}
/// 1 leaves the sample as it is.
template <class Change>
ColourTransform by_factor(double magnitude, const Shape&) {
  return {.change = Change::kNumber, .amount = {static_cast<float>(1 + magnitude)}};
}
ColourTransform posterized(double bits, const Shape&) {
  const auto dropped = 8 - static_cast<int>(std::lround(bits));
  return {.change = DropLowBits::kNumber, .amount = {static_cast<float>(1 << dropped)}};
}
ColourTransform solarized(double threshold, const Shape&) {
  return {.change = InvertBright::kNumber, .amount = {static_cast<float>(threshold)}};
}
ColourTransform sheared_x(double by, const Shape&) { return moved_by({.xy = by}); }
ColourTransform sheared_y(double by, const Shape&) { return moved_by({.yx = by}); }
ColourTransform translated_x(double pixels, const Shape&) {
  return moved_by({.x0 = -std::trunc(pixels)});
}
ColourTransform translated_y(double pixels, const Shape&) {
  return moved_by({.y0 = -std::trunc(pixels)});
}
ColourTransform rotated(double degrees, const Shape& shape) {
  return moved_by(turned(degrees, shape[1], shape[2]));
}

/// The magnitudes of bins 0 and kLastBin, between which the others are evenly spaced.
struct Magnitudes {
  double first = 0, last = 0;
};

struct Operation {
  Made make;
  bool either_way = false;  // the magnitude's sign is drawn
  Magnitudes wide = {};     // ranges of TrivialAugmentWide
  Magnitudes usual = {};    // ranges of the others,
  int parts_of_axis = 0;    // as parts of this side of the shape, if not 0
};

constexpr double kPart = 150.0 / 331.0;

/// In torchvision's order, which the draws follow. The last one is AutoAugment's alone.
enum class Op : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  colour,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
  invert
};
constexpr Operation kOperations[] = {
    {nothing},
    {sheared_x, true, {0, 0.99}, {0, 0.3}},
    {sheared_y, true, {0, 0.99}, {0, 0.3}},
    {translated_x, true, {0, 32}, {0, kPart}, 2},
    {translated_y, true, {0, 32}, {0, kPart}, 1},
    {rotated, true, {0, 135}, {0, 30}},
    {by_factor<BlendBlack>, true, {0, 0.99}, {0, 0.9}},
    {by_factor<BlendGrey>, true, {0, 0.99}, {0, 0.9}},
    {by_factor<BlendMean>, true, {0, 0.99}, {0, 0.9}},
    {by_factor<Sharpen>, true, {0, 0.99}, {0, 0.9}},
    {posterized, false, {8, 2}, {8, 4}},
    {solarized, false, {255, 0}, {255, 0}},
    {made<StretchBytes>},
    {made<EqualizeBytes>},
    {made<InvertBytes>},
};

/// An operation of AutoAugment.
struct PolicyPart {
  Op operation;
  double probability;
  std::int64_t bin = 0;
};

/// The policy found for CIFAR-10, in torchvision's order.
struct Cifar10 {
  using enum Op;
  static constexpr PolicyPart kPairs[][2] = {
      {{invert, 0.1}, {contrast, 0.2, 6}},
      {{rotate, 0.7, 2}, {translate_x, 0.3, 9}},
      {{sharpness, 0.8, 1}, {sharpness, 0.9, 3}},
      {{shear_y, 0.5, 8}, {translate_y, 0.7, 9}},
      {{autocontrast, 0.5}, {equalize, 0.9}},
      {{shear_y, 0.2, 7}, {posterize, 0.3, 7}},
      {{colour, 0.4, 3}, {brightness, 0.6, 7}},
      {{sharpness, 0.3, 9}, {brightness, 0.7, 9}},
      {{equalize, 0.6}, {equalize, 0.5}},
      {{contrast, 0.6, 7}, {sharpness, 0.6, 5}},
      {{colour, 0.7, 7}, {translate_x, 0.5, 8}},
      {{equalize, 0.3}, {autocontrast, 0.4}},
      {{translate_y, 0.4, 3}, {sharpness, 0.2, 6}},
      {{brightness, 0.9, 6}, {colour, 0.2, 8}},
      {{solarize, 0.5, 2}, {invert, 0}},
      {{equalize, 0.2}, {autocontrast, 0.6}},
      {{equalize, 0.2}, {equalize, 0.6}},
      {{colour, 0.9, 9}, {equalize, 0.6}},
      {{autocontrast, 0.8}, {solarize, 0.2, 8}},
      {{brightness, 0.1, 3}, {colour, 0.7, 0}},
      {{solarize, 0.4, 5}, {autocontrast, 0.9}},
      {{translate_y, 0.9, 9}, {translate_y, 0.7, 9}},
      {{autocontrast, 0.9}, {solarize, 0.8, 3}},
      {{equalize, 0.8}, {invert, 0.1}},
      {{translate_y, 0.7, 9}, {autocontrast, 0.9}},
  };
};

/// The magnitude of a bin, in float and from the nearer end, as torch.linspace computes it on
/// processors that fuse products and sums.
double magnitude_of(const Magnitudes& range, std::int64_t bin, std::int64_t last_bin) {
  const auto first = static_cast<float>(range.first), last = static_cast<float>(range.last);
  const float step = (last - first) / static_cast<float>(last_bin);
  const std::int64_t left = last_bin - bin;
  return static_cast<double>(bin < left ? math::fma(step, static_cast<float>(bin), first)
                                        : math::fma(-step, static_cast<float>(left), last));
}

const Operation& drawn_operation(std::uint32_t word) {
  return kOperations[drawn_index(static_cast<std::int64_t>(Op::equalize), word)];
}

bool heads(std::uint32_t word) { return drawn_index(1, word) == 1; }

/// By a magnitude, negative if its sign counts.
ColourTransform signed_operation(const Operation& operation, double magnitude, bool negative,
                                 const Shape& shape) {
  return operation.make(negative && operation.either_way ? -magnitude : magnitude, shape);
}

double usual_magnitude(const Operation& operation, std::int64_t bin, std::int64_t last_bin,
                       const Shape& shape) {
  Magnitudes range = operation.usual;
  if (const int axis = operation.parts_of_axis; axis > 0) {
    range.last *= static_cast<double>(shape[axis]);
  }
  return magnitude_of(range, bin, last_bin);
}

}  // namespace

Shape AugmentPolicy::output_shape(const Shape& shape) const {
  require_grey_or_rgb(name(), shape);
  return shape;
}

void TrivialAugment::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                             ColourTransform* out) const {
  const Random4 random = augment_words(key, draw);
  const Operation& operation = drawn_operation(random.word[0]);
  const double magnitude =
      magnitude_of(operation.wide, drawn_index(kLastBin, random.word[1]), kLastBin);
  *out = signed_operation(operation, magnitude, heads(random.word[2]), shape);
}

std::unique_ptr<Augmentation> TrivialAugment::read(config::Fields&) {
  return std::make_unique<TrivialAugment>();
}

void RandAugment::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                          ColourTransform* out) const {
  for (std::uint32_t k = 0; k < n_; ++k) {
    const Random4 random = augment_words(key, draw, k);
    const Operation& operation = drawn_operation(random.word[0]);
    const double magnitude = usual_magnitude(operation, magnitude_, kLastBin, shape);
    out[k] = signed_operation(operation, magnitude, heads(random.word[2]), shape);
  }
}

std::unique_ptr<Augmentation> RandAugment::read(config::Fields& fields) {
  std::int64_t n = 2, magnitude = 9;
  fields.field("n", n, "operations of a sample", {.minimum = 1, .maximum = kMostOperations});
  fields.field("magnitude", magnitude, "bin of the operations' ranges",
               {.minimum = 0, .maximum = kLastBin});
  return std::make_unique<RandAugment>(n, magnitude);
}

void AutoAugment::colours(const SampleKey& key, std::uint32_t draw, const Shape& shape,
                          ColourTransform* out) const {
  constexpr std::int64_t kBins = 10;
  const Random4 random = augment_words(key, draw), signs = augment_words(key, draw, 1);
  const auto& pair = Cifar10::kPairs[drawn_index(std::ssize(Cifar10::kPairs) - 1, random.word[0])];
  for (std::size_t k = 0; k < 2; ++k) {
    const PolicyPart& part = pair[k];
    if (uniform01(random.word[1 + k]) > part.probability) continue;
    const Operation& operation = kOperations[static_cast<std::size_t>(part.operation)];
    const double magnitude = usual_magnitude(operation, part.bin, kBins - 1, shape);
    out[k] = signed_operation(operation, magnitude, !heads(signs.word[k]), shape);
  }
}

std::unique_ptr<Augmentation> AutoAugment::read(config::Fields&) {
  return std::make_unique<AutoAugment>();
}

}  // namespace trainyard
