#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "data/augment/image_loops.h"
#include "helpers.h"

namespace trainyard {

namespace {

using Values = std::vector<float>;

const Shape kShape{1, 2, 3};
const Values kImage{1, 2, 3,  //
                    4, 5, 6};
const Values kMirrored{3, 2, 1,  //
                       6, 5, 4};
const Values kUpsideDown{4, 5, 6,  //
                         1, 2, 3};

Values applied(const Augmentation& augmentation, const SampleKey& key, std::uint32_t draw = 0,
               const Shape& shape = kShape, const Values& image = kImage) {
  Values out(static_cast<std::size_t>(augmentation.output_shape(shape).elements()), -1);
  run_step(augmentation.step(key, draw, shape), shape[0], image.data(), out.data());
  return out;
}

Values evaluated(const Augmentation& augmentation, const Shape& shape = kShape,
                 const Values& image = kImage) {
  Values out(static_cast<std::size_t>(augmentation.output_shape(shape).elements()), -1);
  run_step(augmentation.eval_step(shape), shape[0], image.data(), out.data());
  return out;
}

PadCropOptions crop_options(std::int64_t pad, config::Pair size) {
  PadCropOptions options;
  options.pad = pad;
  options.value = 7;
  options.size = size;
  return options;
}

}  // namespace

TEST_CASE("hflip mirrors columns and vflip mirrors rows") {
  CHECK(applied(Flip(Flip::Axis::horizontal, 1), {}) == kMirrored);
  CHECK(applied(Flip(Flip::Axis::vertical, 1), {}) == kUpsideDown);
}

TEST_CASE("a flip of probability 0 and a flip in evaluation copy") {
  CHECK(applied(Flip(Flip::Axis::horizontal, 0), {}) == kImage);
  CHECK(evaluated(Flip(Flip::Axis::horizontal, 1)) == kImage);
}

TEST_CASE("a flip keeps channels apart") {
  CHECK(applied(Flip(Flip::Axis::horizontal, 1), {}, 0, Shape{2, 1, 2}, {1, 2, 3, 4}) ==
        Values{2, 1, 4, 3});
  CHECK(applied(Flip(Flip::Axis::vertical, 1), {}, 0, Shape{2, 2, 1}, {1, 2, 3, 4}) ==
        Values{2, 1, 4, 3});
}

TEST_CASE("hflip mirrors its share of the samples, different ones in another epoch") {
  const Flip flip(Flip::Axis::horizontal, 0.3);
  int mirrored = 0;
  int changed = 0;
  for (int i = 0; i < 2000; ++i) {
    const Values first = applied(flip, {.seed = 1, .epoch = 0, .index = i});
    mirrored += first == kMirrored;
    changed += first != applied(flip, {.seed = 1, .epoch = 1, .index = i});
  }
  // 600 expected, deviation sqrt(2000 * 0.3 * 0.7) = 20.5; changed: 0.42 * 2000 = 840, 22.1.
  CHECK(std::abs(mirrored - 600) < 103);
  CHECK(std::abs(changed - 840) < 111);
}

TEST_CASE("a flip that alternates draws once and then takes turns") {
  const Flip drawn(Flip::Axis::horizontal, 0.5), turns(Flip::Axis::horizontal, 0.5, true);
  for (std::int64_t index = 0; index < 50; ++index) {
    const SampleKey first{.seed = 3, .epoch = 0, .index = index};
    const Shape shape{1, 2, 2};
    const auto mirrored = drawn.step(first, 0, shape).mirror_x;
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      const SampleKey key{.seed = 3, .epoch = epoch, .index = index};
      CHECK((turns.step(key, 0, shape).mirror_x != mirrored) == (epoch % 2 == 1));
    }
  }
}

TEST_CASE("two flips of one sample draw independently") {
  const Flip flip(Flip::Axis::horizontal, 0.5);
  int equal = 0;
  for (int i = 0; i < 2000; ++i) {
    const SampleKey key{.seed = 1, .epoch = 0, .index = i};
    equal += applied(flip, key, 0) == applied(flip, key, 1);
  }
  CHECK(std::abs(equal - 1000) < 112);  // deviation 22.4
}

TEST_CASE("pad_crop takes every position in the padded image equally often") {
  // A 2 x 3 image padded by 1 is 4 x 5; a 3 x 4 window has 2 x 2 places.
  const PadCrop crop(crop_options(1, {3, 4}));
  const std::vector<Values> places{{7, 7, 7, 7, 7, 1, 2, 3, 7, 4, 5, 6},
                                   {7, 7, 7, 7, 1, 2, 3, 7, 4, 5, 6, 7},
                                   {7, 1, 2, 3, 7, 4, 5, 6, 7, 7, 7, 7},
                                   {1, 2, 3, 7, 4, 5, 6, 7, 7, 7, 7, 7}};
  std::map<Values, int> found;
  for (int i = 0; i < 2000; ++i) ++found[applied(crop, {.seed = 3, .epoch = 1, .index = i})];
  CHECK(found.size() == 4);
  for (const Values& place : places) {
    CHECK(std::abs(found[place] - 500) < 97);  // deviation sqrt(2000 * 3 / 16) = 19.4
  }
}

TEST_CASE("pad_crop evaluates the centre") {
  CHECK(evaluated(PadCrop(crop_options(4, {2, 3}))) == kImage);
  CHECK(evaluated(PadCrop(crop_options(0, {1, 1})), Shape{1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}) ==
        Values{5});
  // The upper one of the two middle rows of four.
  CHECK(evaluated(PadCrop(crop_options(1, {1, 3}))) == Values{1, 2, 3});
}

TEST_CASE("pad_crop keeps the input's size if none is given") {
  PadCropOptions options;
  options.pad = 2;
  const PadCrop crop(options);
  CHECK(crop.output_shape(Shape{3, 32, 24}) == Shape{3, 32, 24});
  CHECK(PadCrop(crop_options(3, {8, 9})).output_shape(kShape) == Shape{1, 8, 9});  // all of it
  CHECK(PadCrop(crop_options(4, {20, 28})).output_shape(Shape{3, 32, 24}) == Shape{3, 20, 28});
}

TEST_CASE("pad_crop refuses a crop larger than the padded image") {
  CHECK(test::message_of(ErrorKind::config,
                         [] {
                           (void)PadCrop(crop_options(1, {5, 5})).output_shape(kShape);
                         }) ==
        "pad_crop: a crop of 5 x 5 does not fit an image of 2 x 3 padded by 1; lower 'size' or "
        "raise 'pad'");
}

}  // namespace trainyard
