#include "data/sets/synthetic.h"

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

TEST_CASE("a synthetic set has the requested size, shape and classes") {
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

TEST_CASE("a synthetic sample as bytes has the values of its floats") {
  for (const bool learnable : {false, true}) {
    SyntheticOptions options = small_options();
    options.learnable = learnable;
    const auto set = open_synthetic(options, 1);
    REQUIRE(set->eight_bit());
    for (std::int64_t index = 0; index < set->size(); ++index) {
      const std::vector<float> floats = sample(*set, index);
      std::vector<std::uint8_t> bytes(floats.size());
      set->read_bytes(index, bytes.data());
      CHECK(std::vector<float>(bytes.begin(), bytes.end()) == floats);
    }
  }
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

// Values for seed 1, from a second implementation in Python: bytes of Philox, 16 per draw; with a
// class, its tile of 4 x 4 pixels and the noise half and half, truncated to whole numbers.
TEST_CASE("sample 5 of a known seed follows the rules") {
  SyntheticOptions options = small_options();
  CHECK(sample(*open_synthetic(options, 1), 5) ==
        std::vector<float>{139, 29,  122, 85,  101, 204, 188, 84,  139, 15,  52,  9,   153, 66,
                           124, 165, 202, 141, 33,  211, 114, 182, 250, 6,   84,  3,   97,  235,
                           105, 102, 106, 191, 29,  198, 35,  148, 13,  253, 120, 191, 137, 177,
                           93,  227, 2,   76,  12,  186, 38,  138, 7,   166, 71,  54,  88,  249,
                           38,  153, 52,  222, 85,  249, 8,   103, 249, 165, 124, 181, 54,  244});
  options.learnable = true;
  CHECK(sample(*open_synthetic(options, 1), 5) ==
        std::vector<float>{99,  44,  91,  72,  141, 193, 185, 72,  99,  37,  56,  95,  167, 124,
                           92,  112, 131, 100, 107, 196, 148, 121, 155, 33,  72,  92,  139, 208,
                           74,  72,  74,  117, 56,  140, 59,  129, 61,  181, 115, 205, 178, 198,
                           101, 168, 56,  93,  115, 202, 128, 124, 58,  138, 90,  136, 153, 234,
                           74,  131, 81,  166, 152, 234, 113, 142, 215, 173, 153, 147, 84,  179});
}

TEST_CASE("limit shortens a synthetic set") {
  SyntheticOptions options = small_options();
  options.limit = 7;
  CHECK(open_synthetic(options, 1)->size() == 7);
}

}  // namespace trainyard
