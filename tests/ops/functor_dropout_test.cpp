#include <algorithm>

#include "compute/elementwise/draws.h"
#include "functor_harness.h"
#include "ops/dropout.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kDroppedShape{3, 11, 3, 5};  // 165 elements per sample: the last quad has one

/// The inputs of a mask.
struct Batch {
  std::vector<std::int64_t> samples = {40, 7, 123456789012};
  StepState state{.epoch = 5};
  std::uint64_t seed = 9;
  std::uint32_t node = 77;
};

/// The output for an input of ones: 0 or 1 / (1 - rate).
std::vector<float> masked(const Batch& batch, const StoredLayout& from, const StoredLayout& to,
                          double rate = 0.4, Pass pass = Pass::forward_train) {
  Tensor<float> x(from, {1}), y(to);
  StepTensors tensors;
  tensors.batch = {batch.samples.data(), &batch.state, batch.seed};
  (pass == Pass::backward_data ? tensors.output_gradients : tensors.inputs).push_back(x.view());
  (pass == Pass::backward_data ? tensors.input_gradients : tensors.outputs).push_back(y.view());
  test::run(DropoutOp({.rate = rate}), pass, DType::f32, tensors, 2, batch.node);
  CHECK(y.is_clean());
  return y.elements();
}

std::vector<float> masked(const Batch& batch) {
  const StoredLayout plain{"", plain_layout(kDroppedShape)};
  return masked(batch, plain, plain);
}

/// The part of the sample at `position` of the batch.
std::vector<float> sample(const std::vector<float>& list, std::int64_t position) {
  const auto begin = list.begin() + position * 165;
  return {begin, begin + 165};
}

TEST_CASE("a dropout mask does not depend on the layouts") {
  // The second shape's quads stay in their channel; the third has more than one row of quads.
  for (const Shape& shape : {kDroppedShape, Shape{3, 19, 6, 2}, Shape{3, 5, 17, 31}}) {
    const StoredLayout plain{"", plain_layout(shape)};
    const std::vector<float> expected = masked({}, plain, plain);
    for (const StoredLayout& from : test::stored_layouts(shape)) {
      for (const StoredLayout& to : test::stored_layouts(shape))
        CHECK(masked({}, from, to) == expected);
    }
  }
}

/// The word that is drawn for an element.
struct DrawnWord {
  TY_HD float operator()(float, std::uint32_t drawn) const {
    return static_cast<float>(drawn >> 8);
  }
};

TEST_CASE("a team of many threads makes the draws of one thread, in maps of any number of pixels") {
  const Batch batch;
  const DropoutMask mask{{batch.samples.data(), &batch.state, batch.seed}, batch.node, 0};
  for (const Shape& shape : {Shape{3, 19, 1, 3}, Shape{3, 19, 6, 2}, Shape{3, 5, 9, 15}}) {
    std::vector<float> expected;
    for (const StoredLayout& stored : test::stored_layouts(shape)) {
      CAPTURE(stored.name);
      Tensor<float> x(stored, {1}), y(stored), serial(stored);
      change_by_draws<float>(ThreadLauncher(), mask, DrawnWord{}, x.view(), y.view());
      change_by_draws<float>(CpuLauncher(2), mask, DrawnWord{}, x.view(), serial.view());
      if (expected.empty()) expected = y.elements();
      CHECK(y.elements() == expected);
      CHECK(serial.elements() == expected);
      CHECK(y.is_clean());
    }
  }
}

TEST_CASE("drop_path drops whole samples, spatial_dropout whole maps of channels") {
  std::vector<std::int64_t> samples;
  for (std::int64_t n = 0; n < 64; ++n) samples.push_back(n);
  const StepState state{.epoch = 5};
  const StoredLayout stored{"", plain_layout({64, 5, 2, 3})};
  const DropPathOp paths({.rate = 0.5});
  const SpatialDropoutOp maps({.rate = 0.5});
  for (const bool of_maps : {false, true}) {
    Tensor<float> x(stored, {1}), y(stored);
    std::vector<float> workspace(2048);
    StepTensors tensors{.inputs = {x.view()}, .outputs = {y.view()}};
    tensors.workspace = workspace.data();
    tensors.batch = {samples.data(), &state, 9};
    const Op& op = of_maps ? static_cast<const Op&>(maps) : paths;
    test::run(op, Pass::forward_train, DType::f32, tensors, 2);
    const std::vector<float> found = y.elements();
    const std::size_t together = of_maps ? 6 : 30;
    std::size_t kept = 0, changes = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == (found[i / together * together] == 0 ? 0 : 2));
      kept += found[i] == 0 ? 0 : 1;
      changes += i > 0 && found[i] != found[i - 1] ? 1 : 0;
    }
    CHECK(kept > found.size() / 3);
    CHECK(kept < 2 * found.size() / 3);
    CHECK(changes > found.size() / together / 3);
  }
}

TEST_CASE("a dropout mask uses one Philox draw for four neighbours") {
  const Batch batch;
  const std::vector<float> mask = masked(batch);
  const Random4 key = random4(batch.seed, RandomStream::layer, 5, batch.node, 0);
  for (std::int64_t n = 0; n < 3; ++n) {
    const auto index = static_cast<std::uint64_t>(batch.samples[n]);
    for (std::uint32_t at = 0; at < 165; ++at) {
      const Random4 draw =
          philox(key.word[0], key.word[1], at / 4, 0, static_cast<std::uint32_t>(index),
                 static_cast<std::uint32_t>(index >> 32));
      CHECK((mask[n * 165 + at] != 0) == (draw.word[at % 4] >= 0.4 * 4294967296.0));
    }
  }
}

TEST_CASE("dropout's backward pass draws the same mask") {
  const StoredLayout stored{"", plain_layout(kDroppedShape)};
  CHECK(masked({}, stored, stored, 0.4, Pass::backward_data) == masked({}));
}

TEST_CASE("a dropout mask depends on the sample, not its position in the batch") {
  const std::vector<float> first = masked({});
  const std::vector<float> turned = masked({.samples = {123456789012, 40, 7}});
  CHECK(sample(turned, 0) == sample(first, 2));
  CHECK(sample(turned, 1) == sample(first, 0));
  CHECK(sample(turned, 2) == sample(first, 1));
  CHECK(sample(first, 0) != sample(first, 1));
}

TEST_CASE("seed, epoch, layer and each half of the sample's index change a dropout mask") {
  const std::vector<float> first = masked({});
  CHECK(masked({.seed = 10}) != first);
  CHECK(masked({.state = {.epoch = 6}}) != first);
  CHECK(masked({.node = 78}) != first);
  const std::vector<float> far = masked({.samples = {40 + (1ll << 32), 7, 123456789012}});
  CHECK(sample(far, 0) != sample(first, 0));
}

TEST_CASE("channels are adjacent in blocks and in n, h, w, c, if the rows leave no gaps") {
  const Layout plain = plain_layout(kDroppedShape), blocked = blocked_layout(kDroppedShape, 8);
  const Layout last = channels_last_layout(kDroppedShape, 1);
  CHECK(dropout_lanes(blocked, blocked) == 8);
  CHECK(dropout_lanes(last, last) == 11);
  CHECK(dropout_lanes(blocked, last) == 0);
  CHECK(dropout_lanes(plain, plain) == 0);
  Layout gaps = last;
  gaps.stride[2] += 11;
  CHECK(dropout_lanes(gaps, gaps) == 0);
}

TEST_CASE("positions are counted per sample, not per batch") {
  // 2^32 values in all, 2^22 per sample.
  const std::vector<Shape> shapes = {{1024, 1024, 64, 64}};
  CHECK(DropoutOp(DropoutAttributes{}).infer(shapes).outputs[0] == shapes[0]);
}

TEST_CASE("a draw of exactly rate * 2^32 is kept, the one below it is not") {
  const Batch batch;
  const Random4 key = random4(batch.seed, RandomStream::layer, 5, batch.node, 0);
  const Random4 draw =
      philox(key.word[0], key.word[1], 0, 0, 40, 0);  // draw for the first four elements
  const std::uint32_t* const largest = std::max_element(draw.word, draw.word + 4);
  const auto lane = static_cast<std::size_t>(largest - draw.word);
  REQUIRE(*largest >=
          0x80000000u);  // then 2^32 + 1 in the formula would round to another threshold
  const StoredLayout plain{"", plain_layout(kDroppedShape)};
  CHECK(masked(batch, plain, plain, *largest / 0x1p32)[lane] != 0);
  CHECK(masked(batch, plain, plain, (*largest + 1.0) / 0x1p32)[lane] == 0);
}

TEST_CASE("dropout keeps the right fraction and scales it") {
  const Shape large{4, 25, 20, 20};
  const StoredLayout stored{"", plain_layout(large)};
  for (const double rate : {0.1, 0.5, 0.9}) {
    const std::vector<float> y = masked({.samples = {0, 1, 2, 3}}, stored, stored, rate);
    double zeros = 0;
    for (const float value : y) {
      zeros += value == 0;
      if (value != 0) CHECK(value == static_cast<float>(1 / (1 - rate)));
    }
    // Binomial with 40,000 draws: 5 deviations of sqrt(rate (1 - rate) / 40,000).
    CHECK(std::abs(zeros / 40000 - rate) <= 5 * std::sqrt(rate * (1 - rate) / 40000));
  }
}

TEST_CASE("rate 0 and the evaluation pass leave values unchanged") {
  const StoredLayout stored{"", plain_layout(kDroppedShape)};
  const std::vector<float> ones(static_cast<std::size_t>(kDroppedShape.elements()), 1.0f);
  CHECK(masked({}, stored, stored, 0) == ones);
  CHECK(masked({}, stored, stored, 0.9, Pass::forward_eval) == ones);
}

}  // namespace
}  // namespace trainyard
