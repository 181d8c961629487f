// Warps: how they are drawn and composed, and images that differ in size.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "data/augment/image_loops.h"
#include "data/augment/keras_warps.h"
#include "data/augment/pipeline.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Values = std::vector<float>;
using Augments = std::vector<std::shared_ptr<const Augmentation>>;

template <class... Member>
Augments augments(Member... members) {
  Augments list;
  (list.push_back(std::make_unique<Member>(std::move(members))), ...);
  return list;
}

const Shape kWarped{1, 8, 6};

}  // namespace

TEST_CASE("fill mirror does not repeat the edge: dcb|abcd|cba") {
  const std::string mirrored =
      "cdcbabcdcb"
      "abcd"
      "cbabcdcbab";
  for (std::int64_t i = -10; i < 14; ++i) {
    CAPTURE(i);
    CHECK('a' + extended_index(i, 4, Fill::mirror) == mirrored[static_cast<std::size_t>(i + 10)]);
  }
  CHECK(extended_index(-3, 1, Fill::mirror) == 0);
  CHECK(extended_index(7, 1, Fill::mirror) == 0);
}

TEST_CASE("pad_crop mirrors the image around it, as PyTorch's reflect padding") {
  PadCropOptions options;
  options.pad = 2;
  options.fill = Fill::mirror;
  options.size = config::Pair{6, 7};
  const Values image{1, 2, 3,  //
                     4, 5, 6};
  Values out(42);
  run_step(PadCrop(options).eval_step({1, 2, 3}), 1, image.data(), out.data());
  CHECK(Values(out.begin(), out.begin() + 14) == Values{3, 2, 1, 2, 3, 2, 1,  //
                                                        6, 5, 4, 5, 6, 5, 4});
}

TEST_CASE("consecutive warps are one step, and its map is that of Keras's product of matrices") {
  const Sampling sampling{.interpolation = Interpolation::bilinear};
  const ShiftOptions shift{.x = 0.2, .y = 0.1, .interpolation = Interpolation::bilinear};
  const Pipeline pipeline(kWarped,
                          augments(Rotate(20, sampling), Shift(shift), Shear(10, sampling),
                                   Zoom(0.8, 1.2, sampling), Flip(Flip::Axis::horizontal, 1)),
                          {});
  CHECK(pipeline.spatial_transforms() == 2);
  CHECK(pipeline.interpolating_steps() == 1);
  const SampleKey key{.seed = 3, .epoch = 2, .index = 5};
  SpatialTransform steps[2];
  pipeline.train_steps(key, kWarped, steps);
  Affine map = Rotate(20, sampling).map(key, 0, kWarped);
  map = composed(map, Shift(shift).map(key, 1, kWarped));
  map = composed(map, Shear(10, sampling).map(key, 2, kWarped));
  map = composed(map, Zoom(0.8, 1.2, sampling).map(key, 3, kWarped));
  CHECK(steps[0].map == map);
  CHECK(steps[0].warps);
  CHECK(steps[1].mirror_x);
  pipeline.eval_steps(kWarped, steps);
  CHECK_FALSE(steps[0].warps);
  CHECK_FALSE(steps[0].interpolates);
}

TEST_CASE("a shift by whole pixels composed with others moves as it does alone") {
  const SpatialTransform alone = Shift({.x = 2, .y = 1}).step_by({1, -2}, kWarped);
  const SpatialTransform warp = warp_step({.y0 = 1, .x0 = -2}, {}, kWarped, kWarped);
  Values image(48);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i);
  Values first(48), second(48);
  run_step(alone, 1, image.data(), first.data());
  run_step(warp, 1, image.data(), second.data());
  CHECK(first == second);
}

TEST_CASE("consecutive warps that sample differently are refused") {
  CHECK(test::message_of(ErrorKind::config,
                         [] {
                           (void)Pipeline(kWarped,
                                          augments(Rotate(5, {.fill = Fill::wrap}), Shift({})), {});
                         }) ==
        "augment: 'rotate' and 'shift' follow one another, so they are one warp, but differ in "
        "'fill', 'cval' or 'interpolation'; give both the same");
}

TEST_CASE("angles and factors are drawn evenly from their ranges") {
  double least = 100, most = -100, sum = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const Affine turn = Rotate(30, {}).map({.seed = 1, .index = i}, 0, kWarped);
    const double degrees = std::atan2(turn.xy, turn.xx) * 180 / 3.14159265358979;
    const Affine zoom = Zoom(0.5, 1.5, {}).map({.seed = 1, .index = i}, 0, kWarped);
    least = std::min(least, degrees);
    most = std::max(most, degrees);
    sum += degrees;
    CHECK((zoom.yy >= 0.5 && zoom.yy <= 1.5 && zoom.xx >= 0.5 && zoom.xx <= 1.5));
    CHECK(zoom.yy != zoom.xx);
  }
  // The mean's deviation is 30 / sqrt(3 * 4000) = 0.27, five of them 1.4.
  CHECK((least >= -30 && least < -29.7 && most <= 30 && most > 29.7));
  CHECK(std::abs(sum / kDraws) < 1.4);
}

TEST_CASE("resize takes the shorter side to its size, center_crop the middle") {
  const Resize resize(8, {.interpolation = Interpolation::bilinear});
  CHECK(resize.output_shape({3, 100, 50}) == Shape{3, 16, 8});
  CHECK(resize.output_shape({3, 30, 47}) == Shape{3, 8, 12});  // floor(8 * 47 / 30)
  CHECK(resize.output_shape({3, 0, 0}) == Shape{3, 0, 0});
  Values image(15), out(3), wide(9);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i + 1);
  run_step(CenterCrop({1, 3}).eval_step({1, 3, 5}), 1, image.data(), out.data());
  CHECK(out == Values{7, 8, 9});
  // Larger than the image: a border of zeros.
  run_step(CenterCrop({1, 9}).eval_step({1, 3, 5}), 1, image.data(), wide.data());
  CHECK(wide == Values{0, 0, 6, 7, 8, 9, 10, 0, 0});
}

/// Images of 3 x 4 and 6 x 8 pixels, each of one value.
class TwoSizes final : public Dataset {
 public:
  [[nodiscard]] std::int64_t size() const override { return 2; }
  [[nodiscard]] Shape image_shape() const override { return {1, 0, 0}; }
  [[nodiscard]] Shape sample_shape(std::int64_t index) const override {
    return index == 0 ? Shape{1, 3, 4} : Shape{1, 6, 8};
  }
  [[nodiscard]] std::int64_t classes() const override { return 1; }
  void read(std::int64_t index, float* image) const override {
    std::fill_n(image, sample_shape(index).elements(), static_cast<float>(index + 1));
  }
  [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return "two"; }
};

TEST_CASE("images that differ in size are resized and cropped to one") {
  const Pipeline pipeline(
      {1, 0, 0},
      augments(Resize(5, {.interpolation = Interpolation::bilinear}), CenterCrop({5, 5})), {});
  CHECK(pipeline.output_shape() == Shape{1, 5, 5});
  ImageScratch scratch;
  for (std::int64_t index : {0, 1, 0}) {
    Values out(25, -1);
    pipeline.fill_eval(TwoSizes(), index, scratch, out.data());
    CHECK(out == Values(25, static_cast<float>(index + 1)));
  }
}

TEST_CASE("random_resized_crop gives images of their own sizes one size") {
  const Pipeline pipeline(
      {1, 0, 0},
      augments(RandomResizedCrop({.size = {5, 4}}, {.interpolation = Interpolation::bilinear})),
      {});
  CHECK(pipeline.output_shape() == Shape{1, 5, 4});
  ImageScratch scratch;
  for (std::int64_t index : {0, 1, 0}) {
    Values out(20, -1);
    pipeline.fill_train(TwoSizes(), {.seed = 2, .index = index}, scratch, out.data());
    CHECK(out == Values(20, static_cast<float>(index + 1)));
  }
}

TEST_CASE("random_resized_crop reads within the image, and its middle in evaluation") {
  const RandomResizedCrop crop({.size = {4, 4}}, {.interpolation = Interpolation::bilinear});
  for (int i = 0; i < 2000; ++i) {
    const Affine map = crop.map({.seed = 1, .index = i}, 0, kWarped);
    const double first_y = map.y0 + 0.5 - 0.5 * map.yy, first_x = map.x0 + 0.5 - 0.5 * map.xx;
    CHECK((first_y > -1e-9 && first_y + 4 * map.yy < 8 + 1e-9));
    CHECK((first_x > -1e-9 && first_x + 4 * map.xx < 6 + 1e-9));
  }
  // torchvision's Resize(4 / 0.5), then CenterCrop(4), of 8 x 6: the middle 3 x 3 pixels.
  const RandomResizedCrop half({.size = {4, 4}, .center = 0.5}, {});
  CHECK(half.eval_map(kWarped) == Affine{.yy = 0.75, .y0 = 2.375, .xx = 0.75, .x0 = 1.375});
  const RandomResizedCrop whole({.size = {8, 6}, .center = 1}, {});
  CHECK(whole.eval_map(kWarped) == Affine{});
}

TEST_CASE("images of their own sizes need a common size") {
  CHECK(test::message_of(ErrorKind::config,
                         [] {
                           (void)Pipeline({1, 0, 0}, augments(Flip(Flip::Axis::vertical, 1)), {});
                         }) ==
        "the data's images differ in size, and 'augment' does not make them equal; add "
        "'resize: [h, w]', 'random_resized_crop: size' or 'center_crop: size'");
}

}  // namespace trainyard
