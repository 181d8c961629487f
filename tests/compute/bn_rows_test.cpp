// Batch norm over rows of channels that adds to its input's gradient.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/norm/channels.h"
#include "ops/bn.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kChannels = 8;
const Layout kMap = channels_last_layout({2, kChannels, 3, 5}, 8);

std::vector<float> waves(std::size_t count, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(step * static_cast<float>(i));
  return values;
}

TensorView view_of(std::vector<float>& values, const Layout& layout) {
  return {values.data(), DType::f32, layout};
}

/// dx of a batch norm with or without a ReLU, added to `dx` or in its place.
std::vector<float> input_gradient(bool relu, bool adds, std::vector<float> dx) {
  const BnOp op(BnAttributes{.relu = relu});
  const Layout channel = plain_layout({kChannels});
  std::vector<float> x = waves(dx.size(), 0.7F), y(dx.size()), dy = waves(dx.size(), 0.3F);
  std::vector<float> gamma(kChannels, 1.5F), beta(kChannels, 0.1F), mean(kChannels),
      variance(kChannels), gamma_gradient(kChannels), beta_gradient(kChannels);
  std::vector<std::uint32_t> finished(kColumnGroups);
  std::vector<double> reserve, workspace;
  StepTensors tensors{
      .inputs = {view_of(x, kMap)},
      .outputs = {view_of(y, kMap)},
      .output_gradients = {view_of(dy, kMap)},
      .input_gradients = {view_of(dx, kMap)},
      .parameters = {view_of(gamma, channel), view_of(beta, channel)},
      .parameter_gradients = {view_of(gamma_gradient, channel), view_of(beta_gradient, channel)},
      .batch_statistics = {view_of(mean, channel), view_of(variance, channel)}};
  tensors.batch.finished = finished.data();
  for (const Pass pass : {Pass::forward_train, Pass::backward_data}) {
    const auto executor =
        make_channel_executor({.op = &op,
                               .pass = pass,
                               .inputs = {kMap},
                               .outputs = {kMap},
                               .form = {.adds_gradient = adds && pass == Pass::backward_data}});
    reserve.resize(executor->reserve_bytes() / sizeof(double) + 1);
    workspace.assign(executor->workspace_bytes() / sizeof(double) + 1, 0);
    tensors.reserve = reserve.data();
    tensors.workspace = workspace.data();
    executor->bind(tensors);
    executor->run();
  }
  return dx;
}

}  // namespace

TEST_CASE("batch norm adds its input's gradient to what is there, rounded once") {
  const auto count = static_cast<std::size_t>(span_elements(kMap));
  const std::vector<float> earlier = waves(count, 0.11F);
  for (const bool relu : {false, true}) {
    const std::vector<float> gradient = input_gradient(relu, false, earlier);
    std::vector<float> sum(count);
    for (std::size_t i = 0; i < count; ++i) sum[i] = gradient[i] + earlier[i];
    CHECK(gradient != earlier);
    CHECK(input_gradient(relu, true, earlier) == sum);
  }
}
