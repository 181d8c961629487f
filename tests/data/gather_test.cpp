// Data sets that stay on a device.
#include <doctest/doctest.h>

#include "data/preprocess.h"
#include "data/resident_set.h"
#include "data/shift.h"
#include "gather_cases.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("a device makes the host's batches from a resident set, bit for bit") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  for (const int threads : {1, 3}) {
    int made = 0;
    CHECK(test::differing_batches(*device, *queue, *make_cpu_batch_launches(threads), made) ==
          Texts{});
    CHECK(made == 11 * (3 + 4) * 3 * 4);  // pipelines, batches of both kinds, layouts, types
  }
}

/// Holds its images as floats.
class FloatSet final : public Dataset {
 public:
  [[nodiscard]] std::int64_t size() const override { return 1; }
  [[nodiscard]] Shape image_shape() const override { return {1, 2, 2}; }
  [[nodiscard]] std::int64_t classes() const override { return 2; }
  void read(std::int64_t, float* image) const override { std::fill_n(image, 4, 0.5f); }
  [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return "float"; }
};

TEST_CASE("what cannot stay on a device says why") {
  const auto fault = [](const Dataset& set, int shifts, int scales) {
    std::vector<std::unique_ptr<Augmentation>> augment;
    for (int i = 0; i < shifts; ++i) {
      augment.push_back(std::make_unique<Shift>(
          ShiftOptions{.x = 0.1, .interpolation = Interpolation::bilinear}));
    }
    std::vector<std::unique_ptr<Preprocess>> preprocess;
    for (int i = 0; i < scales; ++i) preprocess.push_back(std::make_unique<Scale>(0.5));
    return ResidentSet::fault(
        set, Pipeline(set.image_shape(), std::move(augment), std::move(preprocess)));
  };
  const auto bytes = test::random_bytes_set(3, {1, 4, 4});
  CHECK(fault(*bytes, 1, kMostPixelSteps).empty());
  CHECK(fault(*bytes, 2, 0) == "more than one augmentation interpolates");
  CHECK(fault(*bytes, 0, kMostPixelSteps + 1) == "there are more than 8 preprocessing steps");
  CHECK(fault(FloatSet(), 0, 0) == "its source keeps no 8-bit images in memory");
}

}  // namespace
}  // namespace trainyard
