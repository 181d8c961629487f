// The layers that draw random numbers besides dropout: spatial dropout and gaussian noise.
#include <algorithm>
#include <cmath>

#include "base/normal.h"
#include "functor_harness.h"
#include "ops/dropout.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kNoisyShape{3, 11, 3, 5};

/// What the draws are a function of.
struct NoiseBatch {
  std::vector<std::int64_t> samples = {40, 7, 123456789012};
  StepState state{.epoch = 5};
  std::uint64_t seed = 9;
  std::uint32_t node = 77;
};

/// The output for an input of ones.
std::vector<float> run_on_ones(const Op& op, const NoiseBatch& batch, const Layout& from,
                               const Layout& to, Pass pass = Pass::forward_train) {
  Tensor<float> x(StoredLayout{"", from, 0}, {1}), y(StoredLayout{"", to, 0});
  StepTensors tensors;
  tensors.batch = {batch.samples.data(), &batch.state, batch.seed};
  std::vector<float> workspace(static_cast<std::size_t>(from.extent[0] * from.extent[1]));
  tensors.workspace = workspace.data();
  (pass == Pass::backward_data ? tensors.output_gradients : tensors.inputs).push_back(x.view());
  (pass == Pass::backward_data ? tensors.input_gradients : tensors.outputs).push_back(y.view());
  test::run(op, pass, DType::f32, tensors, 2, batch.node);
  CHECK(y.is_clean());
  return y.elements();
}

std::vector<float> run_plain(const Op& op, const NoiseBatch& batch = {},
                             Pass pass = Pass::forward_train) {
  const Layout plain = plain_layout(kNoisyShape);
  return run_on_ones(op, batch, plain, plain, pass);
}

/// The part of the sample at `position` of the batch.
std::vector<float> part(const std::vector<float>& list, std::int64_t position) {
  const auto begin = list.begin() + position * 165;
  return {begin, begin + 165};
}

Random4 key_of_batch(const NoiseBatch& batch) {
  return random4(batch.seed, RandomStream::layer, 5, batch.node, 0);
}

Random4 draw_of(const NoiseBatch& batch, std::int64_t n, std::uint32_t quad) {
  const Random4 key = key_of_batch(batch);
  const auto index = static_cast<std::uint64_t>(batch.samples[static_cast<std::size_t>(n)]);
  return philox(key.word[0], key.word[1], quad, 0, static_cast<std::uint32_t>(index),
                static_cast<std::uint32_t>(index >> 32));
}

/// Layouts, place in the batch, seed, epoch and node.
void check_draws(const Op& op) {
  const std::vector<float> first = run_plain(op);
  for (const Layout& from : {plain_layout(kNoisyShape), blocked_layout(kNoisyShape, 8),
                             channels_last_layout(kNoisyShape, 8)}) {
    for (const Layout& to : {plain_layout(kNoisyShape), blocked_layout(kNoisyShape, 16),
                             channels_last_layout(kNoisyShape, 1)}) {
      CHECK(run_on_ones(op, {}, from, to) == first);
    }
  }
  const std::vector<float> turned = run_plain(op, {.samples = {123456789012, 40, 7}});
  CHECK(part(turned, 0) == part(first, 2));
  CHECK(part(turned, 1) == part(first, 0));
  CHECK(part(first, 0) != part(first, 1));
  CHECK(run_plain(op, {.seed = 10}) != first);
  CHECK(run_plain(op, {.state = {.epoch = 6}}) != first);
  CHECK(run_plain(op, {.node = 78}) != first);
}

TEST_CASE("spatial dropout and noise depend on seed, epoch, layer and sample alone") {
  check_draws(SpatialDropoutOp({.rate = 0.4}));
  check_draws(GaussianNoiseOp({.stddev = 0.3}));
}

TEST_CASE("spatial dropout drops whole channels, four to a draw, and scales the others") {
  const std::vector<float> y = run_plain(SpatialDropoutOp({.rate = 0.4}));
  int dropped = 0;
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t c = 0; c < 11; ++c) {
      const std::uint32_t word = draw_of({}, n, static_cast<std::uint32_t>(c / 4)).word[c % 4];
      const bool kept = word >= 0.4 * 4294967296.0;
      dropped += kept ? 0 : 1;
      for (std::int64_t i = 0; i < 15; ++i) {
        CHECK(y[static_cast<std::size_t>((n * 11 + c) * 15 + i)] ==
              (kept ? static_cast<float>(1 / 0.6) : 0));
      }
    }
  }
  CHECK(dropped > 3);
  CHECK(dropped < 30);
}

TEST_CASE("spatial dropout's backward pass draws the same channels; evaluation changes nothing") {
  const SpatialDropoutOp op({.rate = 0.4});
  CHECK(run_plain(op, {}, Pass::backward_data) == run_plain(op));
  const std::vector<float> ones(static_cast<std::size_t>(kNoisyShape.elements()), 1.0f);
  CHECK(run_plain(op, {}, Pass::forward_eval) == ones);
  CHECK(run_plain(SpatialDropoutOp({.rate = 0})) == ones);
}

TEST_CASE("a dropped channel is zero whatever it holds") {
  const Layout plain = plain_layout({1, 4, 1, 1});
  const float infinity = std::numeric_limits<float>::infinity();
  Tensor<float> x(StoredLayout{"", plain, 0}, {static_cast<double>(infinity)}),
      y(StoredLayout{"", plain, 0});
  const NoiseBatch batch;
  StepTensors tensors;
  std::vector<float> workspace(4);
  tensors.batch = {batch.samples.data(), &batch.state, batch.seed};
  tensors.workspace = workspace.data();
  tensors.inputs = {x.view()};
  tensors.outputs = {y.view()};
  test::run(SpatialDropoutOp({.rate = 0.5}), Pass::forward_train, DType::f32, tensors, 1, 77);
  const std::vector<float> found = y.elements();
  CHECK(std::ranges::all_of(found, [&](float v) { return v == 0 || v == infinity; }));
  CHECK(std::ranges::count(found, 0.0f) == std::ranges::count(workspace, 0.0f));
  CHECK(std::ranges::count(workspace, 0.0f) > 0);
}

TEST_CASE("gaussian noise is the quantile of a word per element, four to a draw") {
  const std::vector<float> y = run_plain(GaussianNoiseOp({.stddev = 0.3}));
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::uint32_t at = 0; at < 165; ++at) {
      const std::uint32_t word = draw_of({}, n, at / 4).word[at % 4];
      CHECK(y[static_cast<std::size_t>(n * 165 + at)] == 1 + 0.3f * math::normal_of<float>(word));
    }
  }
}

TEST_CASE("gaussian noise has the given deviation, in training alone") {
  const Shape large{4, 25, 20, 20};
  const NoiseBatch batch{.samples = {0, 1, 2, 3}};
  const Layout plain = plain_layout(large);
  const GaussianNoiseOp op({.stddev = 0.3});
  double sum = 0, squares = 0;
  for (const float value : run_on_ones(op, batch, plain, plain)) {
    const double noise = static_cast<double>(value) - 1;
    sum += noise;
    squares += noise * noise;
  }
  // 5 deviations of a mean of 40,000, and of a mean of squares.
  CHECK(std::abs(sum / 40000) <= 5 * 0.3 / 200);
  CHECK(std::abs(squares / 40000 - 0.09) <= 5 * 0.09 * std::sqrt(2.0) / 200);
  const std::vector<float> ones(static_cast<std::size_t>(large.elements()), 1.0f);
  CHECK(run_on_ones(op, batch, plain, plain, Pass::forward_eval) == ones);
  CHECK(run_on_ones(op, batch, plain, plain, Pass::backward_data) == ones);
}

}  // namespace
}  // namespace trainyard
