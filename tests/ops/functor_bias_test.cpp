// The bias of a layer, added or with its gradient summed by the ReLU behind the layer, in layouts
// with and without packs.
#include <algorithm>
#include <cstddef>

#include "compute/elementwise/bias.h"
#include "functor_harness.h"
#include "launcher/launch.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kBiasedShape{2, 11, 3, 5};

/// The layouts in which a row is a pixel with all its channels.
std::vector<StoredLayout> layouts_of_rows() {
  std::vector<StoredLayout> layouts = stored_layouts(kBiasedShape);
  std::erase_if(layouts, [](const StoredLayout& stored) { return stored.layout.block > 1; });
  return layouts;
}

/// Whole numbers around 0, exact in every sum.
std::vector<double> whole_numbers(std::int64_t count, int step) {
  std::vector<double> list;
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(static_cast<double>(i * step % 251) - 120);
  return list;
}

TEST_CASE("a bias is added to each channel, and a ReLU may follow") {
  const std::vector<double> list = whole_numbers(330, 37);
  const std::vector<float> bias{1, -2, 4, -8, 16, -32, 64, -128, 256, -512, 3};
  for (const StoredLayout& stored : layouts_of_rows()) {
    for (const bool relu : {false, true}) {
      CAPTURE(stored.name);
      Tensor<float> y(stored, list);
      add_bias_rows<float>(CpuLauncher(2), ChannelRows(stored.layout), y.view().as<float>(),
                           bias.data(), relu);
      const std::vector<float> found = y.elements();
      for (std::size_t i = 0; i < 330; ++i) {
        const float sum = static_cast<float>(list[i]) + bias[i / 15 % 11];
        CHECK(found[i] == (relu ? std::max(sum, 0.0f) : sum));
      }
      CHECK(y.is_clean());
    }
  }
}

TEST_CASE("the gradient of a ReLU and its sums, the bias's gradient, come from one step") {
  const std::vector<double> outputs = whole_numbers(330, 37), gradients = whole_numbers(330, 89);
  for (const StoredLayout& stored : layouts_of_rows()) {
    CAPTURE(stored.name);
    Tensor<float> y(stored, outputs), dy(stored, gradients), dx(stored);
    Tensor<float> bias({"", plain_layout({11})});
    StepDescription step{.pass = Pass::backward_data, .storage = DType::f32};
    step.inputs = step.outputs = {stored.layout};
    const auto executor = make_relu_bias_on(CpuLauncher(2), step);
    const ChannelRows rows(stored.layout);
    REQUIRE(executor->workspace_bytes() ==
            static_cast<std::size_t>(bias_partials(rows)) * sizeof(double));
    std::vector<std::byte> workspace(executor->workspace_bytes());
    executor->bind({.outputs = {y.view()},
                    .output_gradients = {dy.view()},
                    .input_gradients = {dx.view()},
                    .parameter_gradients = {bias.view()},
                    .workspace = workspace.data()});
    executor->run();
    std::vector<float> sums(11);
    const std::vector<float> found = dx.elements();
    for (std::size_t i = 0; i < 330; ++i) {
      const float open = outputs[i] > 0 ? static_cast<float>(gradients[i]) : 0.0f;
      CHECK(found[i] == open);
      sums[i / 15 % 11] += open;
    }
    CHECK(bias.elements() == sums);
    CHECK(dx.is_clean());
    CHECK(bias.is_clean());
  }
}

}  // namespace
}  // namespace trainyard
