// Images from which a device makes batches.
#include <doctest/doctest.h>

#include "data/augment/crops.h"
#include "data/augment/flip.h"
#include "data/augment/keras_warps.h"
#include "data/augment/preprocess.h"
#include "data/feed/device_images.h"
#include "gather_cases.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE(
    "a device's batches from a resident set and from uploaded bytes are bit-identical to the "
    "host's") {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  for (const int threads : {1, 3}) {
    int made = 0;
    CHECK(test::differing_batches(*device, *queue, *make_cpu_batch_launches(threads), kTypes,
                                  made) == Texts{});
    CHECK(made ==
          36 * 2 * (3 + 4) * 3 * 4);  // pipelines, ways, batches of both kinds, layouts, types
  }
}

TEST_CASE("a pipeline that a device cannot run is refused with a reason") {
  const auto fault = [](int shifts, int scales) {
    std::vector<std::shared_ptr<const Augmentation>> augment;
    for (int i = 0; i < shifts; ++i) {
      augment.push_back(std::make_unique<Shift>(
          ShiftOptions{.x = 0.1, .interpolation = Interpolation::bilinear}));
      augment.push_back(std::make_unique<Flip>(Flip::Axis::vertical, 0.5));
    }
    std::vector<std::shared_ptr<const Preprocess>> preprocess;
    for (int i = 0; i < scales; ++i) preprocess.push_back(std::make_unique<Scale>(0.5));
    return DeviceImages::fault(Pipeline({1, 4, 4}, std::move(augment), std::move(preprocess)));
  };
  CHECK(fault(1, kMostPixelSteps).empty());
  CHECK(fault(2, 0) == "more than one augmentation interpolates");
  std::vector<std::shared_ptr<const Augmentation>> crop{
      std::make_unique<CenterCrop>(config::Pair{4, 4})};
  CHECK(DeviceImages::fault(Pipeline({1, 0, 0}, crop, {})) == "its images differ in size");
  CHECK(fault(0, kMostPixelSteps + 1) == "there are more than 8 preprocessing steps");
}

}  // namespace
}  // namespace trainyard
