// L2 terms, norms and clipping of the flat gradient block.
#include "optim/gradient.h"

#include <doctest/doctest.h>

#include <limits>

#include "blocks.h"
#include "kernels/launch.h"
#include "optim/accumulate.h"

namespace trainyard {
namespace {

using test::Blocks;

const std::vector<Segment> kFourSegments{
    {1, 1e-2, 0, 0}, {1, 0, 0, 0}, {1, 0.5, 0, 1}, {1, 1, 0, 0}};
// More than two runs of partial sums, the last one short.
constexpr std::int64_t kChunks = 2 * kChunksPerPartial + 77;

TEST_CASE("add_l2 adds twice l2 times the weight, but not to frozen parameters") {
  Blocks<double> blocks(7, kFourSegments, 0);
  const Blocks<double> before = blocks;
  add_l2(CpuLauncher(2), blocks.view());
  for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
    const Segment& segment = blocks.segment_of(i);
    const double l2 = segment.frozen != 0 ? 0 : segment.l2;
    REQUIRE(blocks.gradients[i] == before.gradients[i] + 2 * l2 * before.weights[i]);
  }
  CHECK(has_l2(kFourSegments));
  CHECK_FALSE(has_l2(std::vector<Segment>(3)));
}

TEST_CASE("unscaling divides all gradients by the loss scale") {
  Blocks<double> blocks(7, kFourSegments, 0);
  const Blocks<double> before = blocks;
  blocks.state.loss_scale = 4;
  unscale(CpuLauncher(2), blocks.view());
  for (std::size_t i = 0; i < blocks.gradients.size(); ++i) {
    REQUIRE(blocks.gradients[i] == before.gradients[i] / 4);
  }
}

TEST_CASE("the first micro-batch sets the sum of gradients, the others add to it") {
  const std::vector<double> gradients{1, -2, 3};
  std::vector<double> sum{std::nan(""), std::nan(""), std::nan("")};
  const CpuLauncher launcher(1);
  launcher.each(3, AddGradients<double>{sum.data(), gradients.data(), true});
  CHECK(sum == gradients);
  launcher.each(3, AddGradients<double>{sum.data(), gradients.data(), false});
  CHECK(sum == std::vector<double>{2, -4, 6});
}

TEST_CASE("sums need one double of scratch for every started run of chunks") {
  CHECK(sum_scratch(1) == 1);
  CHECK(sum_scratch(kChunksPerPartial) == 1);
  CHECK(sum_scratch(kChunksPerPartial + 1) == 2);
  CHECK(sum_scratch(2 * kChunksPerPartial) == 2);
}

TEST_CASE("the regularisation loss is the sum of l2 w^2, frozen parameters included") {
  Blocks<double> blocks(kChunks, kFourSegments, 0);
  double expected = 0;
  for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
    expected += blocks.segment_of(i).l2 * blocks.weights[i] * blocks.weights[i];
  }
  double loss = 0;
  regularisation_loss(CpuLauncher(2), blocks.view(), blocks.scratch, &loss);
  // A sum of 38,000 positive terms: relative error below 38,000 * 2^-53 = 4e-12.
  CHECK(std::abs(loss - expected) < 4e-12 * expected);
}

TEST_CASE("the gradient norm is the root of the sum of squares") {
  Blocks<float> blocks(kChunks, kFourSegments, 0);
  double expected = 0;
  for (const float g : blocks.gradients) expected += static_cast<double>(g) * g;
  double norm = 0;
  gradient_norm(CpuLauncher(2), blocks.view(), blocks.scratch, &norm);
  CHECK(std::abs(norm - std::sqrt(expected)) < 4e-12 * norm);
}

TEST_CASE("norms do not depend on the number of threads") {
  Blocks<float> blocks(kChunks, kFourSegments, 0);
  double one = 0, three = 0;
  gradient_norm(CpuLauncher(1), blocks.view(), blocks.scratch, &one);
  gradient_norm(CpuLauncher(3), blocks.view(), blocks.scratch, &three);
  CHECK(one == three);
  CHECK(one > 1);
}

TEST_CASE("a NaN in the gradient is a NaN in its norm and marks the step once") {
  Blocks<float> blocks(kChunks, kFourSegments, 0);
  blocks.gradients.back() = std::numeric_limits<float>::quiet_NaN();
  double norm = 0;
  gradient_norm(CpuLauncher(1), blocks.view(), blocks.scratch, &norm);
  CHECK(std::isnan(norm));
  StepState state;
  state.step = 12;
  const double finite = 3, infinite = std::numeric_limits<double>::infinity();
  note_nonfinite(CpuLauncher(1), &state, &finite);
  CHECK(state.nonfinite_step == -1);
  note_nonfinite(CpuLauncher(1), &state, &norm);
  CHECK(state.nonfinite_step == 12);
  state.step = 13;
  note_nonfinite(CpuLauncher(1), &state, &infinite);
  CHECK(state.nonfinite_step == 12);
  StepState first;  // step 0 can be marked too
  note_nonfinite(CpuLauncher(1), &first, &norm);
  first.step = 1;
  note_nonfinite(CpuLauncher(1), &first, &norm);
  CHECK(first.nonfinite_step == 0);
}

TEST_CASE("clipping scales a large gradient to the maximum and leaves a small one unchanged") {
  Blocks<double> blocks(7, kFourSegments, 0);
  const Blocks<double> before = blocks;
  double norm = 0;
  gradient_norm(CpuLauncher(1), blocks.view(), blocks.scratch, &norm);
  clip_gradients(CpuLauncher(1), blocks.view(), &norm, norm * 2);
  CHECK(blocks.gradients == before.gradients);
  clip_gradients(CpuLauncher(1), blocks.view(), &norm, 1.5);
  double clipped = 0;
  gradient_norm(CpuLauncher(1), blocks.view(), blocks.scratch, &clipped);
  CHECK(std::abs(clipped - 1.5) < 1e-13);  // 448 terms and three roundings per element
  CHECK(clip_factor(std::numeric_limits<double>::quiet_NaN(), 1.0) == 1.0);
  CHECK(clip_factor(4, 1) == 0.25);
}

}  // namespace
}  // namespace trainyard
