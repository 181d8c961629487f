// pad, slice and upsample by their definitions, between any two layouts.
#include <cstdint>

#include "compute/elementwise/shapes.h"
#include "functor_harness.h"
#include "op_text.h"

namespace trainyard {
namespace {

using namespace test;

/// Elements of [c, h, w] in this order, in test tensors of two images.
struct Maps {
  std::int64_t c, h, w;
  [[nodiscard]] std::int64_t index(std::int64_t n, std::int64_t channel, std::int64_t y,
                                   std::int64_t x) const {
    return ((n * c + channel) * h + y) * w + x;
  }
  [[nodiscard]] Shape shape() const { return {2, c, h, w}; }
};

/// Runs an op from YAML on a tensor of the layout, into one of `shape`; its gradient of the output.
std::vector<float> moved(const std::string& yaml, const StoredLayout& from, const StoredLayout& to,
                         const std::vector<double>& values, bool backward = false) {
  const auto op = test::op_from(yaml);
  Tensor<float> in(from, values), out(to);
  StepTensors tensors;
  if (backward) {
    tensors.output_gradients = {in.view()};
    tensors.input_gradients = {out.view()};
  } else {
    tensors.inputs = {in.view()};
    tensors.outputs = {out.view()};
  }
  test::run(*op, backward ? Pass::backward_data : Pass::forward_train, DType::f32, tensors, 2);
  CHECK(out.is_clean());
  return out.elements();
}

StoredLayout plainly(const Maps& maps) { return {"", plain_layout(maps.shape())}; }

std::vector<double> counted_up(const Maps& maps) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < maps.shape().elements(); ++i) values.push_back(1.0 + i);
  return values;
}

TEST_CASE("pad moves channels behind those in front, and its gradient moves them back") {
  const Maps small{3, 2, 2}, large{6, 4, 3};
  const char* const pad = "{pad: {front: 2, back: 1, top: 2, left: 1, value: -1}}";
  const auto x = counted_up(small), dy = counted_up(large);
  const auto y = moved(pad, plainly(small), plainly(large), x);
  const auto dx = moved(pad, plainly(large), plainly(small), dy, true);
  double margin = 0;
  for (const float value : y) margin += value == -1 ? 1 : 0;
  CHECK(margin == 144 - 24);
  for (std::int64_t i = 0; i < 24; ++i) {
    const std::int64_t n = i / 12, c = i / 4 % 3, h = i / 2 % 2, w = i % 2;
    const auto place = static_cast<std::size_t>(large.index(n, c + 2, h + 2, w + 1));
    const auto own = static_cast<std::size_t>(i);
    CHECK(y[place] == x[own]);
    CHECK(dx[own] == dy[place]);
  }
}

TEST_CASE("a slice with a step takes every step-th row, and its gradient is 0 between them") {
  const Maps whole{2, 7, 3}, taken{2, 3, 3};
  const char* const slice = "{slice: {begin: 1, end: 7, axis: height, step: 2}}";
  const auto x = counted_up(whole), dy = counted_up(taken);
  const auto y = moved(slice, plainly(whole), plainly(taken), x);
  const auto dx = moved(slice, plainly(taken), plainly(whole), dy, true);
  for (std::int64_t i = 0; i < 84; ++i) {
    const std::int64_t n = i / 42, c = i / 21 % 2, h = i / 3 % 7, w = i % 3;
    const auto own = static_cast<std::size_t>(i);
    if (h % 2 == 0) {
      CHECK(dx[own] == 0);
      continue;
    }
    const auto place = static_cast<std::size_t>(taken.index(n, c, h / 2, w));
    CHECK(y[place] == x[own]);
    CHECK(dx[own] == dy[place]);
  }
}

TEST_CASE("upsampling and padding give the same bits between any two layouts") {
  const Maps small{21, 2, 3};
  const struct {
    const char* yaml;
    Maps large;
  } ops[] = {{"{upsample: {size: 2, mode: bilinear}}", {21, 4, 6}},
             {"{upsample: {size: [2, 1]}}", {21, 4, 3}},
             {"{pad: {front: 3, back: 9, top: 1, right: 2}}", {33, 3, 5}},
             {"{slice: {begin: 2, end: 17, step: 2}}", {8, 2, 3}}};
  for (const auto& [yaml, large] : ops) {
    CAPTURE(yaml);
    const auto x = draws(small.shape().elements(), 2), dy = draws(large.shape().elements(), 2);
    const auto y = moved(yaml, plainly(small), plainly(large), x);
    const auto dx = moved(yaml, plainly(large), plainly(small), dy, true);
    for (const StoredLayout& one : stored_layouts(small.shape())) {
      for (const StoredLayout& other : stored_layouts(large.shape())) {
        CAPTURE(one.name);
        CAPTURE(other.name);
        CHECK(moved(yaml, one, other, x) == y);
        CHECK(moved(yaml, other, one, dy, true) == dx);
      }
    }
  }
}

TEST_CASE("a pixel may have more channels than a row of a map has elements") {
  const Maps small{2500, 1, 2}, large{2500, 1, 3};
  const auto x = counted_up(small);
  const auto y = moved("{pad: {right: 1}}", {"", channels_last_layout(small.shape(), 1)},
                       {"", channels_last_layout(large.shape(), 1)}, x);
  CHECK(y == moved("{pad: {right: 1}}", plainly(small), plainly(large), x));
}

TEST_CASE("a map may have more pixels than a row of it has elements") {
  const Maps small{1, 50, 50}, large{1, 50, 53};
  const auto x = counted_up(small);
  const auto y = moved("{pad: {left: 3}}", plainly(small), plainly(large), x);
  for (std::int64_t i = 0; i < 5000; ++i) {
    const auto place = large.index(i / 2500, 0, i / 50 % 50, i % 50 + 3);
    CHECK(y[static_cast<std::size_t>(place)] == x[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("a team of many threads gives a map the bits of one thread") {
  const Maps small{21, 2, 3}, large{21, 4, 6};
  for (const StoredLayout& one : stored_layouts(small.shape())) {
    for (const StoredLayout& other : stored_layouts(large.shape())) {
      CAPTURE(one.name);
      CAPTURE(other.name);
      Tensor<float> x(one, draws(small.shape().elements(), 2)), y(other), serial(other);
      const auto run = [&](const auto& launcher, Tensor<float>& out) {
        const UpsampleMaps maps{UpsampleAxis(2, 2, true), UpsampleAxis(3, 2, true),
                                Places(one.layout), Places(other.layout)};
        map_indexed<float>(launcher, out.view(), UpsampleValue<float>{maps, x.view().as<float>()});
      };
      run(ThreadLauncher(), y);
      run(CpuLauncher(1), serial);
      CHECK(y.elements() == serial.elements());
      CHECK(y.is_clean());
    }
  }
}

}  // namespace
}  // namespace trainyard
