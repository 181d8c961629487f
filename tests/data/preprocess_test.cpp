#include "data/augment/preprocess.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "helpers.h"

namespace trainyard {

using test::message_of;

namespace {

using Values = std::vector<float>;
using Steps = std::vector<std::shared_ptr<const Preprocess>>;

const Shape kPreparedShape{2, 1, 2};

template <class... Step>
Steps steps(Step... given) {
  Steps list;
  (list.push_back(std::make_unique<Step>(std::move(given))), ...);
  return list;
}

/// Prepares the steps with the set's statistics and returns the whole set, preprocessed.
Values preprocessed(const Dataset& set, Steps list) {
  Pipeline pipeline(set.image_shape(), {}, std::move(list));
  pipeline.prepare(compute_statistics(set, 1));
  const std::int64_t elements = set.image_shape().elements();
  Values all(static_cast<std::size_t>(set.size() * elements));
  ImageScratch scratch;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    pipeline.fill_eval(set, i, scratch, all.data() + i * elements);
  }
  return all;
}

std::unique_ptr<MemoryDataset> two_images() {
  MemorySamples samples;
  samples.image = kPreparedShape;
  samples.classes = 1;
  samples.labels = {0, 0};
  samples.bytes = {10, 20, 30, 40,  //
                   20, 40, 30, 80};
  return std::make_unique<MemoryDataset>(std::move(samples));
}

}  // namespace

TEST_CASE("scale multiplies") {
  CHECK(preprocessed(*two_images(), steps(Scale(0.5))) == Values{5, 10, 15, 20, 10, 20, 15, 40});
}

TEST_CASE("mean_image subtracts the mean of each position") {
  CHECK(preprocessed(*two_images(), steps(MeanImage())) == Values{-5, -10, 0, -20, 5, 10, 0, 20});
}

TEST_CASE("mean_image after scale subtracts the scaled mean") {
  CHECK(preprocessed(*two_images(), steps(Scale(0.5), MeanImage())) ==
        Values{-2.5f, -5, 0, -10, 2.5f, 5, 0, 10});
}

TEST_CASE("mean_rgb subtracts the mean of each channel, or given values") {
  // Channel means 22.5 and 45.
  CHECK(preprocessed(*two_images(), steps(MeanRgb({}))) ==
        Values{-12.5f, -2.5f, -15, -5, -2.5f, 17.5f, -15, 35});
  CHECK(preprocessed(*two_images(), steps(MeanRgb({10, 30}))) ==
        Values{0, 10, 0, 10, 10, 30, 0, 50});
  CHECK(preprocessed(*two_images(), steps(MeanRgb({10}))) == Values{0, 10, 20, 30, 10, 30, 20, 70});
}

TEST_CASE("std_rgb divides by given values") {
  CHECK(preprocessed(*two_images(), steps(StdRgb({10, 20}))) ==
        Values{1, 2, 1.5f, 2, 2, 4, 1.5f, 4});
}

TEST_CASE("std_rgb of train gives every channel the deviation 1, after any preceding steps") {
  const auto set = test::random_bytes_set(50, Shape{3, 4, 5});
  for (int order = 0; order < 4; ++order) {
    CAPTURE(order);
    Steps list;
    if (order == 1) list = steps(Scale(-1.0 / 255));
    if (order == 2) list = steps(MeanImage());
    if (order == 3) list = steps(MeanRgb({}), Scale(0.1), MeanImage());
    list.push_back(std::make_unique<StdRgb>(Values{}));
    const Values all = preprocessed(*set, std::move(list));
    for (std::size_t channel = 0; channel < 3; ++channel) {
      double sum = 0;
      double squares = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i / 20 % 3 != channel) continue;
        sum += all[i];
        squares += static_cast<double>(all[i]) * all[i];
      }
      const double mean = sum / 1000;
      const double deviation = std::sqrt(squares / 1000 - mean * mean);
      // The divisor is rounded to float (2^-24) after some float steps, each value too: 1e-5 is far
      // above that, and far below the effect of a wrong order.
      CHECK(std::abs(deviation - 1) < 1e-5);
    }
  }
}

TEST_CASE("mean_rgb and std_rgb of train, the usual pair, give mean 0 and deviation 1") {
  const auto set = test::random_bytes_set(50, Shape{1, 4, 5});
  double sum = 0;
  double squares = 0;
  for (const float value : preprocessed(*set, steps(MeanRgb({}), StdRgb({})))) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  CHECK(std::abs(sum / 1000) < 1e-5);
  CHECK(std::abs(squares / 1000 - 1) < 1e-5);
}

TEST_CASE("statistics follow the steps, so that a second step of the same kind does nothing") {
  const auto set = test::random_bytes_set(50, Shape{3, 4, 5});
  const Values centred = preprocessed(*set, steps(MeanImage()));
  CHECK(preprocessed(*set, steps(MeanImage(), MeanRgb({}))) == centred);
  CHECK(preprocessed(*set, steps(StdRgb({}), StdRgb({}))) == preprocessed(*set, steps(StdRgb({}))));
}

TEST_CASE("given means are subtracted from the mean image of a single channel too") {
  const auto set = test::random_bytes_set(50, Shape{1, 4, 5});
  const Values centred = preprocessed(*set, steps(MeanImage()));
  const Values shifted = preprocessed(*set, steps(MeanRgb({10}), MeanImage()));
  for (std::size_t i = 0; i < centred.size(); ++i) {
    // Three more roundings of values below 256.
    CHECK(std::abs(shifted[i] - centred[i]) <= 3 * 256 * 0x1p-24f);
  }
}

TEST_CASE("a number of values other than the number of channels is refused") {
  const auto refused = [](auto step) {
    return message_of(ErrorKind::config, [&] {
      Statistics statistics;
      static_cast<void>(step.prepared(statistics, Shape{1, 2, 2}));
    });
  };
  CHECK(refused(MeanRgb({1, 2, 3})) ==
        "mean_rgb: 3 values for images of 1 channels; give one value, or one per channel");
  CHECK(refused(StdRgb({1, 2, 3})) ==
        "std_rgb: 3 values for images of 1 channels; give one value, or one per channel");
}

TEST_CASE("a step is prepared for several sets, and stays as it was") {
  const auto first = test::random_bytes_set(50, Shape{3, 4, 5});
  const auto second = two_images();
  const Steps shared = steps(MeanImage(), MeanRgb({}), StdRgb({}));
  const Values alone = preprocessed(*second, steps(MeanImage(), MeanRgb({}), StdRgb({})));
  static_cast<void>(preprocessed(*first, shared));
  CHECK(preprocessed(*second, shared) == alone);
  CHECK(shared[0]->step().count == 0);
}

TEST_CASE("a constant channel has no deviation to divide by") {
  MemorySamples constant;
  constant.image = kPreparedShape;
  constant.classes = 1;
  constant.labels = {0};
  constant.bytes = {1, 2, 5, 5};
  const MemoryDataset flat(std::move(constant));
  CHECK(message_of(ErrorKind::data, [&] { (void)preprocessed(flat, steps(StdRgb({}))); }) ==
        "std_rgb: channel 1 (from 0) of the training split is constant, so its standard deviation "
        "is 0; give the values instead of 'train'");
}

TEST_CASE("mean_image is refused after a crop to another size") {
  const auto set = test::random_bytes_set(3, Shape{3, 8, 8});
  PadCropOptions options;
  options.size = config::Pair{6, 6};
  std::vector<std::shared_ptr<const Augmentation>> augment;
  augment.push_back(std::make_unique<PadCrop>(options));
  Pipeline pipeline(set->image_shape(), std::move(augment), steps(MeanImage()));
  CHECK(message_of(ErrorKind::config, [&] { pipeline.prepare(compute_statistics(*set, 1)); }) ==
        "mean_image: the mean image has 192 values but the augmented images are [3, 6, 6]; use "
        "mean_rgb, or crop to the size of the data");
}

TEST_CASE("a pipeline asks for statistics only if a step needs them") {
  CHECK_FALSE(
      Pipeline(kPreparedShape, {}, steps(Scale(1), MeanRgb({1}), StdRgb({1}))).needs_statistics());
  CHECK(Pipeline(kPreparedShape, {}, steps(Scale(1), MeanImage())).needs_statistics());
  CHECK(Pipeline(kPreparedShape, {}, steps(MeanRgb({}))).needs_statistics());
  CHECK(Pipeline(kPreparedShape, {}, steps(StdRgb({}))).needs_statistics());
}

TEST_CASE("a pipeline augments in order and then preprocesses") {
  // Three augmentations use both halves of the scratch memory; the crop shrinks, then the flips
  // mirror both ways.
  const auto set = two_images();
  PadCropOptions options;
  options.pad = 0;
  options.size = config::Pair{1, 2};
  std::vector<std::shared_ptr<const Augmentation>> augment;
  augment.push_back(std::make_unique<Flip>(Flip::Axis::horizontal, 1));
  augment.push_back(std::make_unique<PadCrop>(options));
  augment.push_back(std::make_unique<Flip>(Flip::Axis::vertical, 1));
  Pipeline pipeline(kPreparedShape, std::move(augment), steps(Scale(0.1), MeanRgb({1})));
  pipeline.prepare({});
  ImageScratch scratch;
  Values out(4);
  pipeline.fill_train(*set, {.index = 1}, scratch, out.data());
  // 0.1f is not exact: compare with the same float arithmetic.
  CHECK(out == Values{40 * 0.1f - 1, 20 * 0.1f - 1, 80 * 0.1f - 1, 30 * 0.1f - 1});
  pipeline.fill_eval(*set, 1, scratch, out.data());
  CHECK(out == Values{20 * 0.1f - 1, 40 * 0.1f - 1, 30 * 0.1f - 1, 80 * 0.1f - 1});
}

}  // namespace trainyard
