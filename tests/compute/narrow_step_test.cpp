// Which steps of convolutions are those of few channels.
#include "compute/conv/narrow/narrow_step.h"

#include <doctest/doctest.h>

#include "ops/convolution.h"

using namespace trainyard;

namespace {

/// A 3x3 convolution of 16 channels to 16.
ConvAttributes narrow() {
  return {.filters = 16, .kernel = {3, 3}, .pad = {.kind = Padding::Kind::same_upper}};
}

struct Case {
  ConvAttributes conv = narrow();
  std::int64_t channels = 16;
  Pass pass = Pass::forward_train;
  DType storage = DType::bf16;
  std::int64_t multiple = 8;  // to which the target pads channels

  [[nodiscard]] bool is_narrow() const {
    const ConvOp op(conv);
    const Shape input{2, channels, 6, 5};
    const Shape output = op.infer(std::vector{input}).outputs[0];
    const StepDescription step{.op = &op,
                               .pass = pass,
                               .storage = storage,
                               .inputs = {channels_last_layout(input, multiple)},
                               .outputs = {channels_last_layout(output, multiple)}};
    return trainyard::is_narrow(conv_step(step), storage);
  }
};

Case with(void (*change)(ConvAttributes&)) {
  Case one;
  change(one.conv);
  return one;
}

}  // namespace

TEST_CASE("a 3x3 convolution of 16 channels to 16 in 16 bits is narrow, and its input's gradient") {
  CHECK(Case{}.is_narrow());
  CHECK(Case{.storage = DType::f16}.is_narrow());
  CHECK(Case{.pass = Pass::backward_data}.is_narrow());
  CHECK(Case{.channels = 11}.is_narrow());  // padded to 16
}

TEST_CASE("what the kernel of narrow convolutions does not compute is not") {
  CHECK_FALSE(Case{.pass = Pass::backward_parameters}.is_narrow());
  CHECK_FALSE(Case{.storage = DType::f32, .multiple = 4}.is_narrow());
  CHECK_FALSE(Case{.channels = 8}.is_narrow());
  CHECK_FALSE(Case{.channels = 24}.is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.filters = 32; }).is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.kernel = {3, 5}; }).is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.stride = {2, 2}; }).is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.dilation = {2, 2}; }).is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.groups = 2; }).is_narrow());
  CHECK_FALSE(with([](ConvAttributes& conv) { conv.pad = {}; }).is_narrow());
}

TEST_CASE("nor are channels of a wider map") {
  const ConvOp op(narrow());
  const Layout map = channels_last_layout(Shape{2, 16, 6, 5}, 8);
  Layout slice = map;
  for (const int axis : {0, 2, 3}) slice.stride[axis] *= 2;
  const StepDescription step{
      .op = &op, .storage = DType::bf16, .inputs = {slice}, .outputs = {map}};
  CHECK_FALSE(is_narrow(conv_step(step), DType::bf16));
}
