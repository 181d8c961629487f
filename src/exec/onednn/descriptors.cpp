#include "exec/onednn/descriptors.h"

#include "base/error.h"

namespace trainyard::onednn {
namespace {

constexpr auto kFloat = dnnl::memory::data_type::f32;

Dims extents_of(const Layout& layout) { return {layout.extent, layout.extent + 4}; }

dnnl::memory::format_tag blocked_tag(std::int64_t block) {
  TY_CHECK(block == 8 || block == 16, "oneDNN's channel blocks are 8 or 16 wide");
  return block == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c;
}

Desc blocked_desc(const Layout& layout) {
  const std::int64_t row = layout.extent[3] * layout.block;
  const std::int64_t plane = layout.extent[2] * row;
  TY_CHECK(layout.stride[3] == layout.block && layout.stride[2] == row, "rows lie side by side");
  TY_CHECK(layout.stride[1] == plane && layout.stride[0] % plane == 0, "blocks lie side by side");
  const auto tag = blocked_tag(layout.block);
  const std::int64_t channels = layout.stride[0] / plane * layout.block;
  const Dims dims = extents_of(layout);
  if (channels == layout.padded_channels) return Desc(dims, kFloat, tag);
  Dims whole = dims;
  whole[1] = channels;
  return Desc(whole, kFloat, tag).submemory_desc(dims, {0, 0, 0, 0});
}

}  // namespace

Desc desc_of(const Layout& layout) {
  if (layout.block > 1) return blocked_desc(layout);
  return Desc(extents_of(layout), kFloat, Dims{layout.stride, layout.stride + 4});
}

Desc any_desc(const Dims& dims) { return Desc(dims, kFloat, dnnl::memory::format_tag::any); }

Desc any_of(const Desc& desc) { return any_desc(onednn::dims_of(desc)); }

Desc plain_desc(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return Desc(dims, kFloat, strides);
}

}  // namespace trainyard::onednn
