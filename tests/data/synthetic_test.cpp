#include "data/synthetic.h"

#include <doctest/doctest.h>

#include <cmath>

namespace trainyard {

namespace {

std::vector<float> sample(const Dataset& set, std::int64_t index) {
  std::vector<float> image(static_cast<std::size_t>(set.image_shape().elements()));
  set.read(index, image.data());
  return image;
}

SyntheticOptions small_options() {
  SyntheticOptions options;
  options.shape = {2, 5, 7};
  options.classes = 3;
  options.size = 40;
  return options;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("a synthetic set has the asked size, shape and classes") {
  const auto set = open_synthetic(small_options(), 1);
  CHECK(set->size() == 40);
  CHECK(set->image_shape() == Shape{2, 5, 7});
  CHECK(set->classes() == 3);
  CHECK(set->label(4) == 1);
}

TEST_CASE("synthetic values are whole numbers of 0 to 255 and use the range") {
  SyntheticOptions options = small_options();
  options.shape = {3, 32, 32};
  const std::vector<float> image = sample(*open_synthetic(options, 1), 0);
  bool low = false;
  bool high = false;
  for (const float value : image) {
    CHECK((value >= 0 && value <= 255 && value == std::floor(value)));
    low = low || value < 8;
    high = high || value > 247;
  }
  CHECK(low);
  CHECK(high);
}

TEST_CASE("a synthetic sample depends on seed, split and index and on nothing else") {
  const SyntheticOptions options = small_options();
  const auto set = open_synthetic(options, 1);
  CHECK(sample(*set, 5) == sample(*open_synthetic(options, 1), 5));
  CHECK(sample(*set, 5) != sample(*set, 6));
  CHECK(sample(*set, 5) != sample(*open_synthetic(options, 2), 5));
  SyntheticOptions test = options;
  test.split = Split::test;
  CHECK(sample(*set, 5) != sample(*open_synthetic(test, 1), 5));
  CHECK(set->fingerprint() != open_synthetic(test, 1)->fingerprint());
  CHECK(set->fingerprint() != open_synthetic(options, 2)->fingerprint());
}

TEST_CASE("learnable samples of a class are nearer to each other than to another class") {
  SyntheticOptions options = small_options();
  options.shape = {3, 32, 32};
  options.learnable = true;
  SyntheticOptions other_split = options;
  other_split.split = Split::test;
  const auto train = open_synthetic(options, 1);
  const auto test = open_synthetic(other_split, 1);
  CHECK(distance(sample(*train, 0), sample(*train, 3)) <
        0.8 * distance(sample(*train, 0), sample(*train, 1)));
  CHECK(distance(sample(*train, 0), sample(*test, 3)) <
        0.8 * distance(sample(*train, 0), sample(*test, 1)));
}

TEST_CASE("limit shortens a synthetic set") {
  SyntheticOptions options = small_options();
  options.limit = 7;
  CHECK(open_synthetic(options, 1)->size() == 7);
}

}  // namespace trainyard
