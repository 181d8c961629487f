#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/augment/image_loops.h"
#include "data/augment/keras_warps.h"

namespace trainyard {

namespace {

using Values = std::vector<float>;

const Shape kShiftedShape{1, 3, 4};
// Rows in different tens, so that a wrong row or column is visible.
const Values kShiftedImage{11, 12, 13, 14,  //
                           21, 22, 23, 24,  //
                           31, 32, 33, 34};

Values shifted(const ShiftOptions& options, float y, float x, const Values& image = kShiftedImage,
               const Shape& shape = kShiftedShape) {
  Values out(image.size(), -1);
  run_step(Shift(options).step_by({y, x}, shape), shape[0], image.data(), out.data());
  return out;
}

ShiftOptions with(Fill fill, Interpolation interpolation = Interpolation::nearest) {
  ShiftOptions options;
  options.fill = fill;
  options.cval = 9;
  options.interpolation = interpolation;
  return options;
}

}  // namespace

TEST_CASE("a positive shift takes from below and from the right, as keras-preprocessing does") {
  CHECK(shifted(with(Fill::constant), 1, 2) == Values{23, 24, 9, 9,  //
                                                      33, 34, 9, 9,  //
                                                      9, 9, 9, 9});
  CHECK(shifted(with(Fill::constant), -1, -1) == Values{9, 9, 9, 9,     //
                                                        9, 11, 12, 13,  //
                                                        9, 21, 22, 23});
}

TEST_CASE("fill nearest repeats the edge: aaaa|abcd|dddd") {
  CHECK(shifted(with(Fill::nearest), 1, 2) == Values{23, 24, 24, 24,  //
                                                     33, 34, 34, 34,  //
                                                     33, 34, 34, 34});
  CHECK(shifted(with(Fill::nearest), -2, -3) == Values{11, 11, 11, 11,  //
                                                       11, 11, 11, 11,  //
                                                       11, 11, 11, 11});
}

TEST_CASE("fill reflect mirrors and repeats the edge: dcba|abcd|dcba") {
  CHECK(shifted(with(Fill::reflect), 0, 3) == Values{14, 14, 13, 12,  //
                                                     24, 24, 23, 22,  //
                                                     34, 34, 33, 32});
  CHECK(shifted(with(Fill::reflect), -2, 0) == Values{21, 22, 23, 24,  //
                                                      11, 12, 13, 14,  //
                                                      11, 12, 13, 14});
}

TEST_CASE("fill wrap repeats the image: abcd|abcd|abcd") {
  CHECK(shifted(with(Fill::wrap), 1, -1) == Values{24, 21, 22, 23,  //
                                                   34, 31, 32, 33,  //
                                                   14, 11, 12, 13});
}

TEST_CASE("every fill rule works over several periods") {
  const std::string nearest =
      "aaaaaaaa"
      "abcd"
      "dddddddd";
  const std::string reflect =
      "abcddcba"
      "abcd"
      "dcbaabcd";
  const std::string wrap =
      "abcdabcd"
      "abcd"
      "abcdabcd";
  for (std::int64_t i = -8; i < 12; ++i) {
    CAPTURE(i);
    const std::size_t at = static_cast<std::size_t>(i + 8);
    CHECK('a' + extended_index(i, 4, Fill::nearest) == nearest[at]);
    CHECK('a' + extended_index(i, 4, Fill::reflect) == reflect[at]);
    CHECK('a' + extended_index(i, 4, Fill::wrap) == wrap[at]);
    CHECK(extended_index(i, 4, Fill::constant) == (i >= 0 && i < 4 ? i : -1));
  }
}

TEST_CASE("nearest interpolation rounds the shift, halves upwards") {
  const ShiftOptions options = with(Fill::wrap);
  CHECK(shifted(options, 0.0f, 0.49f) == kShiftedImage);
  CHECK(shifted(options, 0.0f, 0.5f) == shifted(options, 0, 1));
  CHECK(shifted(options, -0.5f, 0.0f) == kShiftedImage);
  CHECK(shifted(options, -0.51f, 0.0f) == shifted(options, -1, 0));
}

TEST_CASE("bilinear interpolation mixes the four pixels around a sub-pixel position") {
  // Quarter to the right, half down: (1 - 1/4) left + 1/4 right adds 0.25, half a row adds 5.
  CHECK(shifted(with(Fill::nearest, Interpolation::bilinear), 0.5f, 0.25f) ==
        Values{16.25f, 17.25f, 18.25f, 19,  //
               26.25f, 27.25f, 28.25f, 29,  //
               31.25f, 32.25f, 33.25f, 34});
  CHECK(shifted(with(Fill::constant, Interpolation::bilinear), 0, -0.5f) ==
        Values{10, 11.5f, 12.5f, 13.5f,  //
               15, 21.5f, 22.5f, 23.5f,  //
               20, 31.5f, 32.5f, 33.5f});
  CHECK(shifted(with(Fill::wrap, Interpolation::bilinear), -0.5f, 0) == Values{21, 22, 23, 24,  //
                                                                               16, 17, 18, 19,  //
                                                                               26, 27, 28, 29});
  CHECK(shifted(with(Fill::reflect, Interpolation::bilinear), 0, 1.5f) ==
        Values{12.5f, 13.5f, 14, 13.5f,  //
               22.5f, 23.5f, 24, 23.5f,  //
               32.5f, 33.5f, 34, 33.5f});
}

TEST_CASE("bilinear interpolation at whole pixels is the nearest one") {
  for (const Fill fill : {Fill::nearest, Fill::reflect, Fill::wrap, Fill::constant}) {
    CHECK(shifted(with(fill, Interpolation::bilinear), 2, -3) == shifted(with(fill), 2, -3));
  }
}

TEST_CASE("channels are shifted alike and do not mix") {
  Values two = kShiftedImage;
  for (const float value : kShiftedImage) two.push_back(value + 100);
  const Values one = shifted(with(Fill::reflect), 1, -2);
  const Values both = shifted(with(Fill::reflect), 1, -2, two, Shape{2, 3, 4});
  for (std::size_t i = 0; i < one.size(); ++i) {
    CHECK(both[i] == one[i]);
    CHECK(both[i + one.size()] == one[i] + 100);
  }
}

TEST_CASE("a fraction is drawn continuously from its share of the size") {
  ShiftOptions options;
  options.x = 0.25;
  options.y = 0.5;
  const Shift shift(options);
  double least_x = 0;
  double most_x = 0;
  double sum_y = 0;
  std::set<float> different;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    const ShiftAmount amount = shift.amount({.seed = 5, .epoch = 1, .index = i}, 0, {3, 40, 16});
    CHECK(std::abs(amount.x) <= 4.0f);
    CHECK(std::abs(amount.y) <= 20.0f);
    least_x = std::min<double>(least_x, amount.x);
    most_x = std::max<double>(most_x, amount.x);
    sum_y += amount.y;
    different.insert(amount.x);
  }
  // The outermost 1 % of 4,000 uniform draws at either end stays empty with probability
  // 0.995^4000 < 1e-8; the mean's deviation is 20 / sqrt(3 * 4000) = 0.18, five of them 0.9.
  CHECK(least_x < -3.96);
  CHECK(most_x > 3.96);
  CHECK(std::abs(sum_y / kDraws) < 0.9);
  CHECK(different.size() > 3900);
}

TEST_CASE("a range of whole pixels is drawn from all its whole numbers") {
  ShiftOptions options;
  options.x = 2;
  const Shift shift(options);
  std::multiset<float> drawn;
  for (int i = 0; i < 1000; ++i) drawn.insert(shift.amount({.index = i}, 0, kShiftedShape).x);
  for (const float pixels : {-2.0f, -1.0f, 0.0f, 1.0f, 2.0f}) {
    // 200 expected, deviation 12.6: five of them are 63.
    CHECK(std::abs(static_cast<int>(drawn.count(pixels)) - 200) < 63);
  }
  CHECK(std::set<float>(drawn.begin(), drawn.end()).size() == 5);
  CHECK(shift.amount({.index = 3}, 0, kShiftedShape).y == 0.0f);
}

TEST_CASE("a shift depends on seed, epoch, draw and index") {
  ShiftOptions options;
  options.x = options.y = 0.5;
  const Shift shift(options);
  const auto x_of = [&](const SampleKey& key, std::uint32_t draw) {
    return shift.amount(key, draw, {3, 32, 32}).x;
  };
  const float base = x_of({.seed = 1, .epoch = 2, .index = 3}, 0);
  CHECK(x_of({.seed = 1, .epoch = 2, .index = 3}, 0) == base);
  CHECK(x_of({.seed = 2, .epoch = 2, .index = 3}, 0) != base);
  CHECK(x_of({.seed = 1, .epoch = 3, .index = 3}, 0) != base);
  CHECK(x_of({.seed = 1, .epoch = 2, .index = 4}, 0) != base);
  CHECK(x_of({.seed = 1, .epoch = 2, .index = 3}, 1) != base);
}

}  // namespace trainyard
