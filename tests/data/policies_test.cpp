// Policies: what they draw, what may stand beside them, and the pixels that they move.
#include "data/augment/policies.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "data/augment/image_loops.h"
#include "data/augment/pipeline.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Values = std::vector<float>;

const Shape kPolicyImage{3, 4, 4};

/// A policy's steps for a sample.
std::vector<ColourTransform> steps_of(const AugmentPolicy& policy, std::int64_t index) {
  std::vector<ColourTransform> steps(static_cast<std::size_t>(policy.colour_transforms()));
  policy.colours({.seed = 5, .epoch = 1, .index = index}, 2, kPolicyImage, steps.data());
  return steps;
}

/// The pixels 1, 2, 3, ... of a grey image after a move.
Values moved_pixels(const ColourTransform& step, std::int64_t height, std::int32_t width) {
  Values image, room(static_cast<std::size_t>(SampleView::room_of(height * width)));
  for (int i = 1; i <= height * width; ++i) image.push_back(static_cast<float>(i));
  run_program(SampleProgram{.samples = image.data(),
                            .channels = 1,
                            .plane = height * width,
                            .width = width,
                            .room = room.data(),
                            .colours = &step,
                            .colour_transforms = 1});
  return image;
}

template <class... Member>
Pipeline pipeline_of(const Shape& image, Member... members) {
  std::vector<std::shared_ptr<const Augmentation>> list;
  (list.push_back(std::make_unique<Member>(std::move(members))), ...);
  return {image, list, {}};
}

}  // namespace

TEST_CASE("trivial_augment draws its operations equally often") {
  constexpr int kDraws = 14000;
  std::map<std::uint32_t, int> changes;
  for (int i = 0; i < kDraws; ++i) ++changes[steps_of(TrivialAugment(), i)[0].change];
  // Nothing, five moves, and eight changes of bytes. The deviation of one is sqrt(1000 * 13 / 14)
  // = 30, of the moves sqrt(5000 * 9 / 14) = 57.
  CHECK(changes.size() == 10);
  for (const auto& [change, count] : changes) {
    const bool moves = change == MovePixels::kNumber;
    CHECK(std::abs(count - (moves ? 5000 : 1000)) < (moves ? 285 : 152));
  }
}

TEST_CASE("trivial_augment draws the bins of the wide ranges, with either sign") {
  std::set<float> factors, bits, thresholds;
  for (int i = 0; i < 14000; ++i) {
    const ColourTransform step = steps_of(TrivialAugment(), i)[0];
    if (step.change == BlendBlack::kNumber) factors.insert(step.amount[0]);
    if (step.change == DropLowBits::kNumber) bits.insert(step.amount[0]);
    if (step.change == InvertBright::kNumber) thresholds.insert(step.amount[0]);
  }
  CHECK(factors.size() == 61);
  CHECK(*factors.begin() == doctest::Approx(0.01));
  CHECK(*factors.rbegin() == doctest::Approx(1.99));
  CHECK(bits == std::set<float>{1, 2, 4, 8, 16, 32, 64});
  CHECK(thresholds.size() == 31);
  CHECK((*thresholds.begin() == 0 && *thresholds.rbegin() == 255));
}

TEST_CASE("rand_augment draws operations one by one, all of one bin") {
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::set<float> factors;
  for (int i = 0; i < 4000; ++i) {
    const auto steps = steps_of(RandAugment(2, 30), i);
    pairs.emplace(steps[0].change, steps[1].change);
    for (const ColourTransform& step : steps) {
      if (step.change == Sharpen::kNumber) factors.insert(step.amount[0]);
      if (step.change == DropLowBits::kNumber) CHECK(step.amount[0] == 16);
    }
  }
  CHECK(pairs.size() == 100);
  CHECK(factors == std::set<float>{static_cast<float>(1 - static_cast<double>(0.9f)),
                                   static_cast<float>(1 + static_cast<double>(0.9f))});
}

TEST_CASE("pixels turn about the centre and move by whole pixels, with 0 outside") {
  CHECK(moved_pixels(moved_by(turned(90, 2, 2)), 2, 2) == Values{2, 4, 1, 3});
  CHECK(moved_pixels(moved_by(turned(180, 2, 3)), 2, 3) == Values{6, 5, 4, 3, 2, 1});
  CHECK(moved_pixels(moved_by({.x0 = -1}), 2, 3) == Values{0, 1, 2, 0, 4, 5});
  CHECK(moved_pixels(moved_by({.y0 = 1}), 2, 3) == Values{4, 5, 6, 0, 0, 0});
  CHECK(moved_pixels(moved_by({.xy = 1}), 2, 3) == Values{2, 3, 0, 6, 0, 0});
}

TEST_CASE("rand_augment moves by parts of the axis, against the magnitude's sign") {
  int moved = 0;
  for (int i = 0; i < 400; ++i) {
    const Random4 random = augment_words({.seed = 5, .epoch = 1, .index = i}, 2);
    const std::int64_t operation = drawn_index(13, random.word[0]);
    if (operation != 3 && operation != 4) continue;  // translate_x, translate_y
    // 150 / 331 of 4 pixels, without the fraction.
    const double by = drawn_index(1, random.word[2]) == 1 ? 1 : -1;
    const ColourTransform expected = moved_by(operation == 3 ? Affine{.x0 = by} : Affine{.y0 = by});
    const ColourTransform step = steps_of(RandAugment(1, 30), i)[0];
    CHECK(std::ranges::equal(step.map, expected.map));
    ++moved;
  }
  CHECK(moved > 20);
}

TEST_CASE("the nearest byte of a value, halves to even") {
  const Values values{-3, 0.5F, 1.5F, 254.4F, 255.4F, 256, 1000};
  Values bytes;
  for (const float value : values) bytes.push_back(as_byte(value));
  CHECK(bytes == Values{0, 0, 2, 254, 255, 255, 255});
}

TEST_CASE("operations round values to bytes first") {
  const auto operated = [](const ColourTransform& step, const auto& value) {
    Values image, room(static_cast<std::size_t>(SampleView::room_of(600)));
    for (int i = 0; i < 3 * 600; ++i) image.push_back(value(static_cast<float>(i * 37 % 1021) / 4));
    run_program(SampleProgram{.samples = image.data(),
                              .channels = 3,
                              .plane = 600,
                              .width = 20,
                              .room = room.data(),
                              .colours = &step,
                              .colour_transforms = 1});
    return image;
  };
  for (int i = 0; i < 200; ++i) {
    const ColourTransform step = steps_of(TrivialAugment(), i)[0];
    if (step.change == 0) continue;
    CAPTURE(i);
    const Values found = operated(step, [](float x) { return x; });
    CHECK((found == operated(step, [](float x) { return as_byte(x); })));
  }
}

TEST_CASE("nothing that moves pixels follows a policy, not even a flip") {
  CHECK(pipeline_of(kPolicyImage, PadCrop({}), Flip(Flip::Axis::horizontal, 0.5), RandAugment(3, 9),
                    TrivialAugment())
            .colour_transforms() == 4);
  CHECK(test::message_of(ErrorKind::config,
                         [] {
                           (void)pipeline_of(kPolicyImage, TrivialAugment(),
                                             Flip(Flip::Axis::horizontal, 0.5));
                         }) ==
        "augment: 'hflip' comes after 'trivial_augment', whose changes are made after pixels "
        "have moved; move it up");
}

TEST_CASE("policies take grey and RGB images") {
  CHECK(pipeline_of({1, 4, 4}, TrivialAugment()).room() == 16 + 256);
  CHECK(test::message_of(ErrorKind::config, [] {
          (void)pipeline_of({2, 4, 4}, RandAugment(2, 9));
        }) == "rand_augment: the images have 2 channels, expected 1 or 3");
}

}  // namespace trainyard
