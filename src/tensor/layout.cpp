#include "tensor/layout.h"

#include "base/error.h"
#include "base/offset_allocator.h"

namespace trainyard {
namespace {

Layout with_extents(const Shape& shape) {
  Layout layout;
  layout.rank = shape.rank();
  for (int axis = 0; axis < 4; ++axis) layout.extent[axis] = shape[axis];
  layout.padded_channels = shape.c();
  return layout;
}

}  // namespace

Layout plain_layout(const Shape& shape) {
  Layout layout = with_extents(shape);
  layout.stride[3] = 1;
  layout.stride[2] = shape.w();
  layout.stride[1] = shape.h() * shape.w();
  layout.stride[0] = shape.c() * layout.stride[1];
  return layout;
}

Layout blocked_layout(const Shape& shape, std::int64_t block) {
  Layout layout = with_extents(shape);
  layout.block = block;
  layout.padded_channels = round_up(shape.c(), block);
  layout.stride[3] = block;
  layout.stride[2] = shape.w() * block;
  layout.stride[1] = shape.h() * shape.w() * block;
  layout.stride[0] = layout.padded_channels / block * layout.stride[1];
  return layout;
}

Layout channels_last_layout(const Shape& shape, std::int64_t multiple) {
  Layout layout = with_extents(shape);
  layout.padded_channels = round_up(shape.c(), multiple);
  layout.stride[1] = 1;
  layout.stride[3] = layout.padded_channels;
  layout.stride[2] = shape.w() * layout.padded_channels;
  layout.stride[0] = shape.h() * layout.stride[2];
  return layout;
}

Layout row_layout(const Shape& shape) {
  return shape.rank() < 4 ? plain_layout(shape) : channels_last_layout(shape, 1);
}

Shape shape_of(const Layout& layout) {
  switch (layout.rank) {
    case 0:
      return Shape{};
    case 1:
      return Shape{layout.extent[0]};
    case 2:
      return Shape{layout.extent[0], layout.extent[1]};
    case 3:
      return Shape{layout.extent[0], layout.extent[1], layout.extent[2]};
    default:
      return Shape{layout.extent[0], layout.extent[1], layout.extent[2], layout.extent[3]};
  }
}

std::int64_t span_elements(const Layout& layout) {
  const std::int64_t last_channel = layout.padded_channels - 1;
  return layout.offset(layout.extent[0] - 1, last_channel, layout.extent[2] - 1,
                       layout.extent[3] - 1) +
         1;
}

bool has_padding(const Layout& layout) { return layout.padded_channels != layout.extent[1]; }

bool is_dense(const Layout& layout) {
  return span_elements(layout) ==
         layout.extent[0] * layout.padded_channels * layout.extent[2] * layout.extent[3];
}

bool same_memory(const Layout& a, const Layout& b) {
  for (int axis = 0; axis < 4; ++axis) {
    if (a.extent[axis] != b.extent[axis]) return false;
  }
  if (span_elements(a) != span_elements(b)) return false;
  // Offsets are separable, so it is enough to walk each axis alone; strides of extent 1 do not
  // matter.
  for (std::int64_t c = 0; c < a.extent[1]; ++c) {
    if (a.offset(0, c, 0, 0) != b.offset(0, c, 0, 0)) return false;
  }
  for (const int axis : {0, 2, 3}) {
    if (a.extent[axis] > 1 && a.stride[axis] != b.stride[axis]) return false;
  }
  return true;
}

Layout channel_slice(const Layout& whole, std::int64_t first, std::int64_t count) {
  TY_CHECK(first % whole.block == 0, "a channel slice begins at a block boundary");
  TY_CHECK(first + count <= whole.padded_channels, "a channel slice is inside its tensor");
  Layout slice = whole;
  slice.extent[1] = count;
  slice.padded_channels = round_up(count, whole.block);
  return slice;
}

std::string text_of(const Layout& layout) {
  const Shape shape = shape_of(layout);
  if (layout == plain_layout(shape)) return std::string("nchw").substr(0, layout.rank);
  if (layout.block > 1 && layout == blocked_layout(shape, layout.block)) {
    return "nChw" + std::to_string(layout.block) + "c";
  }
  if (layout.block == 1 && layout == channels_last_layout(shape, layout.padded_channels)) {
    return "nhwc";
  }
  std::string out = "strides";
  for (const std::int64_t stride : layout.stride) out += " " + std::to_string(stride);
  return layout.block == 1 ? out : out + " block " + std::to_string(layout.block);
}

}  // namespace trainyard
