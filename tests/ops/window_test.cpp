// Paddings and output sizes against the formulas of Keras, Caffe, MXNet and PyTorch.
#include "ops/window.h"

#include <doctest/doctest.h>

#include "ops/op.h"
#include "ops/pool.h"

using namespace trainyard;
using PaddingKind = Padding::Kind;

namespace {

struct Expected {
  std::int64_t before, after, output;
};

void check_axis(const WindowAxis& axis, PaddingKind kind, const Expected& expected,
                std::int64_t amount = 0, bool ceil = false) {
  const AxisSplit plan = plan_axis(axis, kind, amount, ceil);
  CHECK(plan.before == expected.before);
  CHECK(plan.after == expected.after);
  CHECK(plan.output == expected.output);
}

}  // namespace

TEST_CASE("same_upper gives ceil(in / stride) outputs with the odd pixel after") {
  check_axis({.input = 32, .kernel = 3, .stride = 1}, PaddingKind::same_upper, {1, 1, 32});
  check_axis({.input = 32, .kernel = 3, .stride = 2}, PaddingKind::same_upper, {0, 1, 16});
  check_axis({.input = 7, .kernel = 3, .stride = 2}, PaddingKind::same_upper, {1, 1, 4});
  check_axis({.input = 8, .kernel = 2, .stride = 1}, PaddingKind::same_upper, {0, 1, 8});
  check_axis({.input = 5, .kernel = 1, .stride = 3}, PaddingKind::same_upper, {0, 0, 2});
  check_axis({.input = 9, .kernel = 3, .stride = 2, .dilation = 2}, PaddingKind::same_upper,
             {2, 2, 5});
}

TEST_CASE("a transposed axis gives PyTorch's and Keras's sizes") {
  const auto size = [](const WindowAxis& axis, PaddingKind kind, std::int64_t amount = 0,
                       std::int64_t output_pad = 0) {
    return plan_transposed_axis(axis, kind, amount, output_pad).output;
  };
  CHECK(size({.input = 5, .kernel = 3, .stride = 2}, PaddingKind::pixels, 1) == 9);
  CHECK(size({.input = 5, .kernel = 3, .stride = 2}, PaddingKind::pixels, 1, 1) == 10);
  CHECK(size({.input = 5, .kernel = 3, .stride = 1, .dilation = 2}, PaddingKind::pixels) == 9);
  CHECK(size({.input = 5, .kernel = 2, .stride = 3}, PaddingKind::pixels) == 14);
  CHECK(size({.input = 5, .kernel = 2, .stride = 3}, PaddingKind::valid) == 15);
  CHECK(size({.input = 5, .kernel = 4, .stride = 3}, PaddingKind::valid) == 16);
  CHECK(size({.input = 5, .kernel = 2, .stride = 3}, PaddingKind::same_upper) == 15);
  CHECK(size({.input = 5, .kernel = 5, .stride = 2}, PaddingKind::same_symmetric) == 9);
}

TEST_CASE("a convolution over a transposed axis has its margins and gives its input again") {
  using enum PaddingKind;
  for (const PaddingKind kind : {pixels, valid, same_upper, same_lower, same_symmetric}) {
    for (int i = 0; i < 5 * 4 * 3 * 2 * 4; ++i) {
      const WindowAxis axis{.input = 2 + i % 5,
                            .kernel = 1 + i / 5 % 4,
                            .stride = 1 + i / 20 % 3,
                            .dilation = 1 + i / 60 % 2};
      const bool same = kind == same_upper || kind == same_lower;
      const std::int64_t output_pad = same ? 0 : i / 120 % 4 % axis.stride;
      const AxisSplit transposed = plan_transposed_axis(axis, kind, 0, output_pad);
      WindowAxis over = axis;
      over.input = transposed.output;
      const AxisSplit forward = plan_axis(over, kind, 0);
      CAPTURE(i);
      CHECK(forward.output == axis.input);
      CHECK(forward.before == transposed.before);
      CHECK(forward.after == transposed.after);
    }
  }
}

TEST_CASE("same_lower puts the odd pixel before") {
  check_axis({.input = 32, .kernel = 3, .stride = 2}, PaddingKind::same_lower, {1, 0, 16});
  check_axis({.input = 8, .kernel = 2, .stride = 1}, PaddingKind::same_lower, {1, 0, 8});
}

TEST_CASE("same_symmetric pads half the window on both sides") {
  check_axis({.input = 32, .kernel = 3, .stride = 2}, PaddingKind::same_symmetric, {1, 1, 16});
  check_axis({.input = 9, .kernel = 3, .stride = 1, .dilation = 2}, PaddingKind::same_symmetric,
             {2, 2, 9});
}

TEST_CASE("pixels round down, or up in ceil mode with pixels added after") {
  check_axis({.input = 6, .kernel = 3, .stride = 2}, PaddingKind::valid, {0, 0, 2});
  check_axis({.input = 6, .kernel = 3, .stride = 2}, PaddingKind::valid, {0, 1, 3}, 0, true);
  check_axis({.input = 7, .kernel = 3, .stride = 2}, PaddingKind::pixels, {1, 1, 4}, 1, true);
  CHECK(plan_axis({.input = 6, .kernel = 3, .stride = 2}, PaddingKind::valid, 0, true)
            .written_after == 0);
}

TEST_CASE("in ceil mode a window that would start after the input is dropped") {
  // Caffe: ceil((4 + 2 - 2) / 3) + 1 = 3 windows at -1, 2, 5; the last starts after pixel 3.
  check_axis({.input = 4, .kernel = 2, .stride = 3}, PaddingKind::pixels, {1, 1, 2}, 1, true);
  check_axis({.input = 2, .kernel = 3, .stride = 2}, PaddingKind::valid, {0, 1, 1}, 0, true);
}

TEST_CASE("a window larger than the padded input is an error that names the axis") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(
          plan_window({1, 3, 4, 32}, {{7, 7}, {1, 1}, {1, 1}}, {PaddingKind::pixels, {1, 1}})),
      "height: a window over 7 pixels does not fit an input of 4 with 1 of padding on each side",
      ShapeError);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(plan_window({1, 3, 32, 4}, {{3, 3}, {1, 1}, {2, 2}}, {})),
      "width: a window over 5 pixels does not fit an input of 4 with 0 of padding on each side",
      ShapeError);
}

TEST_CASE("count_pad counts the padding as written, not what ceil mode adds") {
  PoolAttributes pool;
  pool.kind = PoolAttributes::Kind::average;
  pool.size = {3, 3};
  pool.stride = {2, 2};
  pool.pad = {PaddingKind::pixels, {1, 1}};
  pool.ceil = true;
  const PoolOp::Geometry geometry = PoolOp(pool).geometry({1, 1, 6, 6});
  CHECK(geometry.output_h == 4);
  CHECK(geometry.margins == Margins{1, 1, 2, 2});
  CHECK(geometry.counted == Margins{1, 1, 1, 1});
}

TEST_CASE("a padding is written in the form it is read") {
  CHECK(text_of(Padding{PaddingKind::same_upper, {0, 0}}) == "same_upper");
  CHECK(text_of(Padding{PaddingKind::valid, {0, 0}}) == "valid");
  CHECK(text_of(Padding{PaddingKind::pixels, {2, 2}}) == "2");
  CHECK(text_of(Padding{PaddingKind::pixels, {2, 1}}) == "[2, 1]");
}
