// Colours: how they are drawn, their order, and samplewise preprocessing.
#include "data/augment/colours.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "data/augment/crops.h"
#include "data/augment/erasing.h"
#include "data/augment/flip.h"
#include "data/augment/gaussian_blur.h"
#include "data/augment/image_loops.h"
#include "data/augment/pipeline.h"
#include "data/augment/preprocess.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Values = std::vector<float>;

const Shape kColoured{3, 4, 4};

ColourTransform drawn(const Augmentation& augmentation, std::int64_t index) {
  ColourTransform step;
  augmentation.colours({.seed = 5, .epoch = 1, .index = index}, 2, kColoured, &step);
  return step;
}

template <class... Member>
std::vector<std::shared_ptr<const Augmentation>> augmented(Member... members) {
  std::vector<std::shared_ptr<const Augmentation>> list;
  (list.push_back(std::make_unique<Member>(std::move(members))), ...);
  return list;
}

/// An image of 4 x 4 pixels after a step.
Values changed(Values image, const ColourTransform& step) {
  run_program(SampleProgram{.samples = image.data(),
                            .channels = std::ssize(image) / 16,
                            .plane = 16,
                            .width = 4,
                            .colours = &step,
                            .colour_transforms = 1});
  return image;
}
/// One of ones.
Values erased_by(const ColourTransform& step) { return changed(Values(48, 1), step); }

/// True if element `i` of this image is in the step's box.
bool in_box(const ColourTransform& step, std::size_t i) {
  const auto y = static_cast<std::int32_t>(i % 16 / 4), x = static_cast<std::int32_t>(i % 4);
  return y >= step.box[0] && y < step.box[1] && x >= step.box[2] && x < step.box[3];
}

}  // namespace

TEST_CASE("hls_jitter draws whole offsets, zero twice as often, as the fraction is cut off") {
  std::map<float, int> hues;
  for (int i = 0; i < 4000; ++i) {
    const ColourTransform step = drawn(HlsJitter({.h = 2, .l = 50, .s = 0}), i);
    ++hues[step.amount[0]];
    CHECK(std::abs(step.amount[1]) <= 50);
    CHECK(step.amount[1] == std::trunc(step.amount[1]));
    CHECK(step.amount[2] == 0);
  }
  CHECK(hues.size() == 3);  // -2 would need the draw 0
  // A quarter each and a half, deviations sqrt(4000 * 3 / 16) = 27 and 32.
  CHECK(std::abs(hues[-1] - 1000) < 137);
  CHECK(std::abs(hues[1] - 1000) < 137);
  CHECK(std::abs(hues[0] - 2000) < 158);
}

TEST_CASE("channel_shift and brightness draw from their ranges, each channel on its own") {
  double least = 99, most = -99;
  for (int i = 0; i < 2000; ++i) {
    const ColourTransform shift = drawn(ChannelShift(20), i);
    CHECK(shift.amount[0] != shift.amount[1]);
    for (int c = 0; c < 3; ++c) CHECK(std::abs(shift.amount[c]) <= 20);
    const double factor = drawn(Brightness({0.5, 1.5}), i).amount[0];
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  CHECK((least >= 0.5 && least < 0.51 && most <= 1.5 && most > 1.49));
}

TEST_CASE("brightness raises negative values to 0, and stretches the largest to 255") {
  const auto changed_to = [](float a, float b, float c) {
    Values image(16, b);
    image[0] = a;
    image[15] = c;
    image = changed(image, {.change = Stretch::kNumber, .amount = {0.5F}});
    return Values{image[0], image[1], image[15]};
  };
  // 63.75, 127.5 and 255, rounded down, halved and rounded down again.
  CHECK(changed_to(2, 4, 8) == Values{31, 63, 127});
  CHECK(changed_to(-2, 0, 6) == Values{0, 31, 127});
}

TEST_CASE("colour_jitter makes its changes in every order") {
  std::set<std::vector<std::uint32_t>> orders;
  const ColourJitter jitter({.brightness = 0.4, .contrast = 0.3, .saturation = 2, .hue = 0.1});
  REQUIRE(jitter.colour_transforms() == 4);
  for (int i = 0; i < 2000; ++i) {
    ColourTransform steps[4];
    jitter.colours({.seed = 1, .index = i}, 0, kColoured, steps);
    std::vector<std::uint32_t> order;
    for (const ColourTransform& step : steps) {
      order.push_back(step.change);
      if (step.change == TurnHue::kNumber) CHECK(std::abs(step.amount[0]) <= 0.1f);
      if (step.change == Saturate::kNumber) CHECK((step.amount[0] >= 0 && step.amount[0] <= 3));
    }
    orders.insert(order);
  }
  CHECK(orders.size() == 24);
  const Random4 amounts = augment_words({.seed = 1, .index = 3}, 0);
  const Random4 turns = augment_words({.seed = 1, .index = 3}, 0, 1);
  const auto within = [&](double least, double most, int word) {
    return static_cast<float>(uniform(least, most, amounts.word[word]));
  };
  std::vector<std::pair<std::uint32_t, float>> expected{
      {Brighten::kNumber, within(1 - 0.4, 1 + 0.4, 0)},
      {Contrast::kNumber, within(1 - 0.3, 1 + 0.3, 1)},
      {Saturate::kNumber, within(0, 3, 2)},
      {TurnHue::kNumber, within(-0.1, 0.1, 3)}};
  for (int i = 3; i > 0; --i) std::swap(expected[i], expected[drawn_index(i, turns.word[i])]);
  ColourTransform steps[4];
  jitter.colours({.seed = 1, .index = 3}, 0, kColoured, steps);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(steps[i].change == expected[i].first);
    CHECK(steps[i].amount[0] == expected[i].second);
  }
  CHECK(ColourJitter({.hue = 0.2}).colour_transforms() == 1);
}

TEST_CASE("a turned hue has no channel above 255 but the largest") {
  for (int sixth = 0; sixth < 6; ++sixth) {
    const Rgb turned = with_hue_turned({300, 280, 290}, static_cast<float>(sixth) / 6);
    CHECK(turned.r + turned.g + turned.b == 255 + 255 + 300);
  }
}

TEST_CASE("cutout erases the part of a square that is inside the image") {
  std::set<int> erased;
  for (int i = 0; i < 500; ++i) {
    const ColourTransform step = drawn(Cutout(3, 9), i);
    const Values image = erased_by(step);
    int count = 0;
    for (std::size_t k = 0; k < image.size(); ++k) {
      const bool inside = in_box(step, k);
      count += inside;
      CHECK(image[k] == (inside ? 9 : 1));
    }
    erased.insert(count / 3);
  }
  CHECK(erased == std::set<int>{4, 6, 9});  // corner, edge, middle
}

TEST_CASE("random_erasing erases with its probability, within its range of areas") {
  constexpr int kDraws = 4000;
  const RandomErasing erasing({.probability = 0.25, .scale = {0.2, 0.5}, .value = {7}});
  int erased = 0;
  for (int i = 0; i < kDraws; ++i) {
    const ColourTransform step = drawn(erasing, i);
    if (step.change == 0) continue;
    ++erased;
    const int pixels = (step.box[1] - step.box[0]) * (step.box[3] - step.box[2]);
    CHECK((pixels >= 2 && pixels <= 9));  // pixels out of 16, with rounded sides
    CHECK((step.box[0] >= 0 && step.box[1] <= 4 && step.box[2] >= 0 && step.box[3] <= 4));
  }
  CHECK(std::abs(erased - kDraws / 4) < 137);  // five deviations of sqrt(4000 * 3 / 16)
}

TEST_CASE("random_erasing with random values gives each pixel and channel a byte of its own") {
  const RandomErasing erasing(
      {.probability = 1, .scale = {0.5, 0.5}, .ratio = {1, 1}, .value = {}});
  std::map<float, int> values;
  double sum = 0;
  int count = 0;
  for (int i = 0; i < 500; ++i) {
    const ColourTransform step = drawn(erasing, i);
    const Values image = erased_by(step);
    CHECK(image == erased_by(drawn(erasing, i)));
    for (std::size_t k = 0; k < image.size(); ++k) {
      if (!in_box(step, k)) {
        CHECK(image[k] == 1);
        continue;
      }
      CHECK((image[k] == std::trunc(image[k]) && image[k] >= 0 && image[k] <= 255));
      ++values[image[k]];
      sum += static_cast<double>(image[k]);
      ++count;
    }
  }
  CHECK(count == 500 * 9 * 3);  // sqrt(0.5) * 4 is 2.8
  CHECK(values.size() == 256);
  // The mean's deviation is 73.9 / sqrt(13500) = 0.64.
  CHECK(std::abs(sum / count - 127.5) < 3.2);
}

TEST_CASE("a random value is a function of seed, pixel and channel") {
  const Values image = changed(Values(6 * 16, 1),
                               {.change = EraseRandomly::kNumber, .box = {0, 4, 0, 4}, .seed = 77});
  for (std::uint32_t c = 0; c < 6; ++c) {
    for (std::uint32_t i = 0; i < 16; ++i) {
      const Random4 random = random4(77, RandomStream::augment, c / 4, 0, i);
      CHECK(image[c * 16 + i] == static_cast<float>(random.word[c % 4] >> 24));
    }
  }
}

TEST_CASE("channels beyond the last amount have that one") {
  const ColourTransform step{.amount = {1, 2, 3, 4}};
  CHECK(step.amount_of(3) == 4);
  CHECK(step.amount_of(5) == 4);
}

TEST_CASE("random_erasing takes one value, or one per channel") {
  const RandomErasing two({.value = {1, 2}});
  CHECK(two.output_shape({2, 4, 4}) == Shape{2, 4, 4});
  CHECK(test::message_of(ErrorKind::config, [&] { (void)two.output_shape(kColoured); }) ==
        "random_erasing: 2 values for images of 3 channels; give one value, or one per channel");
  CHECK(RandomErasing({}).output_shape({9, 4, 4}) == Shape{9, 4, 4});
}

TEST_CASE("samplewise steps give a sample the mean 0 and the deviation 1") {
  MemorySamples samples;
  samples.image = {1, 2, 2};
  samples.classes = 1;
  samples.labels = {0, 0};
  samples.bytes = {1, 3, 5, 7, 10, 10, 10, 10};
  const MemoryDataset set(std::move(samples));
  Pipeline pipeline({1, 2, 2}, {},
                    {std::make_shared<SampleCenter>(), std::make_shared<SampleStd>()});
  pipeline.prepare({});
  for (const PixelTransform& step : pipeline.pixel_transforms()) CHECK(step.samplewise());
  CHECK_FALSE(PixelTransform{}.samplewise());
  ImageScratch scratch;
  Values out(4);
  pipeline.fill_eval(set, 0, scratch, out.data());
  const float deviation = std::sqrt(5.0f) + 1e-7f;
  CHECK(out == Values{-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation});
  pipeline.fill_eval(set, 1, scratch, out.data());
  CHECK(out == Values{0, 0, 0, 0});  // constant: 0 / 1e-7
}

TEST_CASE("statistics of the training split are not known after a samplewise step") {
  CHECK(test::message_of(ErrorKind::config,
                         [] {
                           Pipeline pipeline(kColoured, {},
                                             {std::make_shared<SampleCenter>(),
                                              std::make_shared<MeanRgb>(std::vector<float>{})});
                           pipeline.prepare({.mean = {1, 2, 3}});
                         }) ==
        "mean_rgb: 'train' comes after a samplewise step, of whose values the statistics are "
        "not known; move it up, or give the values");
}

TEST_CASE("a change of colours reads the whole sample, and needs room only if it says so") {
  const Pipeline none(kColoured, augmented(Flip(Flip::Axis::vertical, 1)), {});
  CHECK_FALSE(none.reads_samples());
  const Pipeline shift(kColoured, augmented(ChannelShift(5)), {});
  CHECK(shift.reads_samples());
  CHECK(shift.room() == 0);
}

TEST_CASE("colours come after pixels have moved; only flips commute with them") {
  CHECK(Pipeline(kColoured, augmented(ChannelShift(5), Flip(Flip::Axis::vertical, 1)), {})
            .colour_transforms() == 1);
  CHECK(test::message_of(
            ErrorKind::config,
            [] { (void)Pipeline(kColoured, augmented(ChannelShift(5), PadCrop({})), {}); }) ==
        "augment: 'pad_crop' comes after 'channel_shift', whose changes are made after pixels "
        "have moved; move it up");
}

TEST_CASE(
    "gaussian_blur draws deviations from its range, and takes windows that images mirror once") {
  double least = 99, most = 0;
  int blurred = 0;
  for (int i = 0; i < 4000; ++i) {
    const ColourTransform step =
        drawn(GaussianBlur({.size = 5, .sigma = {0.5, 1.5}, .probability = 0.25}), i);
    if (step.change == 0) continue;
    ++blurred;
    CHECK(step.amount[1] == 2);
    least = std::min(least, static_cast<double>(step.amount[0]));
    most = std::max(most, static_cast<double>(step.amount[0]));
  }
  CHECK(std::abs(blurred - 1000) < 137);  // five deviations of sqrt(4000 * 3 / 16)
  CHECK((least >= 0.5 && least < 0.52 && most <= 1.5 && most > 1.48));
  CHECK(GaussianBlur({.size = 7}).output_shape(kColoured) == kColoured);
  CHECK(test::message_of(ErrorKind::config,
                         [] { (void)GaussianBlur({.size = 9}).output_shape(kColoured); }) ==
        "gaussian_blur: a window of 9 does not fit an image of 4 x 4, which is mirrored once; "
        "lower 'size'");
}

TEST_CASE("changes of colours need red, green and blue") {
  CHECK(test::message_of(ErrorKind::config, [] {
          (void)HlsJitter({}).output_shape({1, 28, 28});
        }) == "hls_jitter: the images have 1 channels, expected 3: red, green and blue");
  CHECK(test::message_of(ErrorKind::config, [] {
          (void)ChannelShift(1).output_shape({5, 28, 28});
        }) == "channel_shift: the images have 5 channels, expected at most 4");
}

}  // namespace trainyard
