#include "data/augment/statistics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "helpers.h"

namespace trainyard {

namespace {

/// Float samples: values i of a formula, not whole.
std::unique_ptr<MemoryDataset> float_set() {
  MemorySamples samples;
  samples.image = Shape{2, 3, 5};
  samples.classes = 1;
  for (int i = 0; i < 37 * 30; ++i) {
    samples.floats.push_back(0.37f * static_cast<float>((i * 7919) % 211) - 12.5f);
  }
  samples.labels.resize(37);
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// The same from the definition, in two passes.
Statistics by_definition(const Dataset& set) {
  const Shape shape = set.image_shape();
  const std::int64_t plane = shape[1] * shape[2];
  const std::size_t elements = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<float>> images(static_cast<std::size_t>(set.size()));
  for (std::size_t n = 0; n < images.size(); ++n) {
    images[n].resize(elements);
    set.read(static_cast<std::int64_t>(n), images[n].data());
  }
  std::vector<double> mean_image(elements);
  for (const auto& image : images) {
    for (std::size_t i = 0; i < elements; ++i) mean_image[i] += image[i];
  }
  Statistics statistics;
  std::vector<double> mean(static_cast<std::size_t>(shape[0]));
  for (std::size_t i = 0; i < elements; ++i) {
    mean_image[i] /= static_cast<double>(images.size());
    statistics.mean_image.push_back(static_cast<float>(mean_image[i]));
    mean[i / static_cast<std::size_t>(plane)] += mean_image[i] / static_cast<double>(plane);
  }
  std::vector<double> variance(mean.size());
  for (const auto& image : images) {
    for (std::size_t i = 0; i < elements; ++i) {
      const std::size_t channel = i / static_cast<std::size_t>(plane);
      variance[channel] += (image[i] - mean[channel]) * (image[i] - mean[channel]);
    }
  }
  for (std::size_t c = 0; c < mean.size(); ++c) {
    statistics.mean.push_back(static_cast<float>(mean[c]));
    statistics.deviation.push_back(static_cast<float>(
        std::sqrt(variance[c] / static_cast<double>(plane) / static_cast<double>(images.size()))));
  }
  return statistics;
}

/// Both round a double result to float once; the double results differ by far less than half an
/// ulp of float, so one ulp (2^-23 relative) covers a tie broken the other way.
void check_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(found[i] - expected[i]) <= std::abs(expected[i]) * 0x1p-23f);
  }
}

void check_against_definition(const Dataset& set) {
  const Statistics found = compute_statistics(set, 1);
  const Statistics expected = by_definition(set);
  check_near(found.mean_image, expected.mean_image);
  check_near(found.mean, expected.mean);
  check_near(found.deviation, expected.deviation);
}

}  // namespace

TEST_CASE("statistics of bytes follow their definition") {
  check_against_definition(*test::random_bytes_set(101, Shape{3, 5, 4}));
}

TEST_CASE("statistics of floats follow their definition") {
  check_against_definition(*float_set());
}

TEST_CASE("statistics of fewer samples than parts follow their definition") {
  check_against_definition(*test::random_bytes_set(3, Shape{1, 2, 2}));
}

TEST_CASE("statistics do not depend on the number of threads") {
  const auto set = float_set();
  const Statistics one = compute_statistics(*set, 1);
  for (const int threads : {2, 3, 16}) {
    const Statistics many = compute_statistics(*set, threads);
    CHECK(many.mean_image == one.mean_image);
    CHECK(many.mean == one.mean);
    CHECK(many.deviation == one.deviation);
  }
}

TEST_CASE("byte sums are exact beyond 65536 samples of 255") {
  // 255^2 * 66,000 samples is above 2^32, where a 32-bit sum would wrap.
  MemorySamples samples;
  samples.image = Shape{1, 1, 1};
  samples.classes = 1;
  samples.labels.resize(16 * 66000);  // each of the 16 parts has 66,000
  samples.bytes.assign(samples.labels.size(), 255);
  const Statistics statistics = compute_statistics(MemoryDataset(std::move(samples)), 1);
  CHECK(statistics.mean_image[0] == 255.0f);
  CHECK(statistics.deviation[0] == 0.0f);
}

TEST_CASE("a sample that cannot be read fails the statistics with its error on any threads") {
  /// Fails at sample 30.
  class Unreadable final : public Dataset {
   public:
    [[nodiscard]] std::int64_t size() const override { return 64; }
    [[nodiscard]] Shape image_shape() const override { return {1, 1, 1}; }
    [[nodiscard]] std::int64_t classes() const override { return 1; }
    void read(std::int64_t index, float* image) const override {
      if (index >= 30) throw Error(ErrorKind::data, "sample " + std::to_string(index) + " is bad");
      *image = 0;
    }
    [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
    [[nodiscard]] std::string fingerprint() const override { return ""; }
  };
  for (const int threads : {1, 2, 5}) {
    CHECK(test::holds(
        test::message_of(ErrorKind::data, [&] { (void)compute_statistics(Unreadable(), threads); }),
        "34 files cannot be used:\n  sample 30 is bad\n  sample 31 is bad\n"));
  }
}

}  // namespace trainyard
