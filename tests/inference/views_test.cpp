// Views of images, and the means over them, against PyTorch (scripts/make_view_goldens.py).
#include "inference/views.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../base/error_of.h"
#include "base/philox.h"
#include "config/load.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kImages = 2, kPixels = 3 * 5 * 4, kOutputs = 3;

/// [-1, 1), as in the script.
std::vector<float> noise_of(const std::string& name, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Random4 draw = philox(key_of(name), 0, static_cast<std::uint32_t>(i), 0, 0, 0);
    values[i] = static_cast<float>((draw.word[0] >> 8) * 0x1p-23 - 1);
  }
  return values;
}

std::vector<float> outputs_of(std::span<const float> images) {
  static const std::vector<float> weights =
      noise_of("views.weights", static_cast<std::size_t>(kOutputs * kPixels));
  std::vector<float> outputs;
  for (std::int64_t image = 0; image < kImages; ++image) {
    for (std::int64_t output = 0; output < kOutputs; ++output) {
      double sum = 0;
      for (std::int64_t i = 0; i < kPixels; ++i) {
        sum += static_cast<double>(weights[static_cast<std::size_t>(output * kPixels + i)]) *
               images[static_cast<std::size_t>(image * kPixels + i)];
      }
      outputs.push_back(static_cast<float>(sum));
    }
  }
  return outputs;
}

std::vector<float> mean_over(ViewSet set) {
  const std::vector<float> images = noise_of("views.images", kImages * kPixels);
  const Batch batch{.images = images, .fields = {}, .sample_index = {}};
  ViewMaker maker({3, 5, 4});
  ViewMean mean(set);
  std::optional<std::vector<float>> whole;
  for (const View& view : views_of(set)) {
    CHECK(!whole);
    whole = mean.add(outputs_of(maker.view(batch, view).images));
  }
  REQUIRE(whole);
  return *whole;
}

}  // namespace

TEST_CASE("means over views are PyTorch's") {
  const config::Node goldens = config::load_yaml(TY_SOURCE_DIR "/tests/inference/views.yaml");
  for (const ViewSet set : {ViewSet::flip, ViewSet::shifts}) {
    const config::Node& expected = *goldens.find(std::string(config::word_of(set)));
    const std::vector<float> mean = mean_over(set);
    REQUIRE(mean.size() == expected.items.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      CHECK(std::abs(mean[i] - expected.items[i].real) <= 2e-6);  // outputs are float32, up to 8
    }
  }
}

TEST_CASE("the mean over the image alone has its outputs' bits") {
  const std::vector<float> outputs = {0.1f, -0.0f, 3e38f};
  ViewMean mean(ViewSet::none);
  const std::optional<std::vector<float>> same = mean.add(outputs);
  REQUIRE(same);
  CHECK(*same == outputs);
  CHECK(std::signbit((*same)[1]));
}

TEST_CASE("samples that are no images have no views") {
  require_images(ViewSet::none, {8, 1, 1});
  require_images(ViewSet::flip, {3, 2, 2});
  CHECK(
      testing::error_of(ErrorKind::command_line,
                        [] {
                          require_images(ViewSet::flip, {8, 1, 1});
                        }) ==
      "--tta flip mirrors and shifts images, but samples of this run are [8, 1, 1]; leave it out");
}
