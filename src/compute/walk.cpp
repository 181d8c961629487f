#include "compute/walk.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {
namespace {

/// True if the axis has the stride `expected`, or only one element.
bool steps_by(const Layout& layout, int axis, std::int64_t expected) {
  return layout.extent[axis] == 1 || layout.stride[axis] == expected;
}

/// n, c, h, w or blocked channels without gaps inside an image.
bool image_is_run(const Layout& layout) {
  const std::int64_t row = layout.extent[3] * layout.block;
  const std::int64_t map = layout.extent[2] * row;
  return steps_by(layout, 3, layout.block) && steps_by(layout, 2, row) &&
         (layout.padded_channels == layout.block || layout.stride[1] == map);
}

/// n, h, w, c with evenly spaced pixels, whatever is between them.
bool pixel_is_run(const Layout& layout) {
  const std::int64_t row = layout.extent[3] * layout.stride[3];
  return layout.block == 1 && steps_by(layout, 1, 1) && steps_by(layout, 2, row) &&
         steps_by(layout, 0, layout.extent[2] * row);
}

}  // namespace

Walk plan_walk(std::span<const Layout> layouts) {
  const Layout& first = layouts[0];
  const auto all = [&](const auto& holds) { return std::ranges::all_of(layouts, holds); };
  TY_CHECK(
      all([&](const Layout& layout) { return std::ranges::equal(layout.extent, first.extent); }),
      "all tensors of an elementwise op must have the same shape");
  if (is_dense(first) && all([&](const Layout& layout) { return same_memory(layout, first); })) {
    return {Walk::Kind::dense, 1, span_elements(first)};
  }
  const bool same_blocks = all([&](const Layout& layout) {
    return layout.block == first.block && layout.padded_channels == first.padded_channels;
  });
  if (same_blocks && all(image_is_run)) {
    const std::int64_t map = first.extent[2] * first.extent[3];
    return {Walk::Kind::images, first.extent[0], first.padded_channels * map};
  }
  if (same_blocks && all(pixel_is_run)) {
    return {Walk::Kind::pixels, first.extent[0] * first.extent[2] * first.extent[3],
            first.padded_channels};
  }
  return {};
}

std::int64_t run_stride(const Walk& walk, const Layout& layout) {
  switch (walk.kind) {
    case Walk::Kind::images:
      return layout.stride[0];
    case Walk::Kind::pixels:
      return layout.stride[3];
    default:
      return 0;
  }
}

}  // namespace trainyard
