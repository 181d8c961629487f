#include "tensor/layout.h"

#include <doctest/doctest.h>

#include <set>

using namespace trainyard;

namespace {

std::set<std::int64_t> offsets(const Layout& layout) {
  std::set<std::int64_t> seen;
  for (std::int64_t n = 0; n < layout.extent[0]; ++n)
    for (std::int64_t c = 0; c < layout.extent[1]; ++c)
      for (std::int64_t h = 0; h < layout.extent[2]; ++h)
        for (std::int64_t w = 0; w < layout.extent[3]; ++w) seen.insert(layout.offset(n, c, h, w));
  return seen;
}

}  // namespace

TEST_CASE("every layout gives each element its own offset inside the span") {
  const Shape shape{3, 20, 5, 7};
  for (const Layout& layout : {plain_layout(shape), blocked_layout(shape, 16),
                               blocked_layout(shape, 8), channels_last_layout(shape, 8)}) {
    const auto seen = offsets(layout);
    CHECK(static_cast<std::int64_t>(seen.size()) == shape.elements());
    CHECK(*seen.begin() == 0);
    CHECK(*seen.rbegin() < span_elements(layout));
    CHECK(is_dense(layout));
  }
}

TEST_CASE("the steps of a sequence are rows of channels, side by side and without padding") {
  const Layout sequence = row_layout({2, 5, 1, 7});
  CHECK(sequence == channels_last_layout({2, 5, 1, 7}, 1));
  CHECK(sequence.offset(1, 3, 0, 4) == 1 * 7 * 5 + 4 * 5 + 3);
  CHECK_FALSE(has_padding(sequence));
  CHECK(is_dense(sequence));
  CHECK(row_layout({3, 20}) == plain_layout({3, 20}));
}

TEST_CASE("a blocked layout of full blocks at 1x1 equals the plain one in memory") {
  const Shape shape{4, 64, 1, 1};
  CHECK(same_memory(plain_layout(shape), blocked_layout(shape, 16)));
  CHECK_FALSE(same_memory(plain_layout({4, 64, 2, 1}), blocked_layout({4, 64, 2, 1}, 16)));
  CHECK_FALSE(same_memory(plain_layout({4, 60, 1, 1}), blocked_layout({4, 60, 1, 1}, 16)));
}

TEST_CASE("a channel slice addresses the channels of the whole") {
  const Layout whole = blocked_layout({2, 48, 3, 3}, 16);
  const Layout slice = channel_slice(whole, 16, 32);
  const std::int64_t base = whole.offset(0, 16, 0, 0);
  for (std::int64_t c = 0; c < 32; ++c) {
    CHECK(base + slice.offset(1, c, 2, 1) == whole.offset(1, 16 + c, 2, 1));
  }
  CHECK_FALSE(is_dense(slice));
}

TEST_CASE("layouts have names") {
  const Shape shape{2, 20, 3, 3};
  CHECK(text_of(plain_layout(shape)) == "nchw");
  CHECK(text_of(blocked_layout(shape, 16)) == "nChw16c");
  CHECK(text_of(channels_last_layout(shape, 8)) == "nhwc");
}
