#include "compute/conv/onednn/dnnl.h"

#include "base/error.h"

namespace trainyard::onednn {
namespace {

using DataType = dnnl::memory::data_type;

DataType type_of(DType type) {
  TY_CHECK(type == DType::f32 || type == DType::bf16, "oneDNN computes in f32 and in bf16");
  return type == DType::bf16 ? DataType::bf16 : DataType::f32;
}

Dims extents_of(const Layout& layout) { return {layout.extent, layout.extent + 4}; }

dnnl::memory::format_tag blocked_tag(std::int64_t block) {
  TY_CHECK(block == 8 || block == 16, "oneDNN's channel blocks are 8 or 16 wide");
  return block == 16 ? dnnl::memory::format_tag::nChw16c : dnnl::memory::format_tag::nChw8c;
}

Desc blocked_desc(const Layout& layout, DataType type) {
  const std::int64_t row = layout.extent[3] * layout.block;
  const std::int64_t plane = layout.extent[2] * row;
  TY_CHECK(layout.stride[3] == layout.block && layout.stride[2] == row, "rows lie side by side");
  TY_CHECK(layout.stride[1] == plane && layout.stride[0] % plane == 0, "blocks lie side by side");
  const auto tag = blocked_tag(layout.block);
  const std::int64_t channels = layout.stride[0] / plane * layout.block;
  const Dims dims = extents_of(layout);
  if (channels == layout.padded_channels) return Desc(dims, type, tag);
  Dims whole = dims;
  whole[1] = channels;
  return Desc(whole, type, tag).submemory_desc(dims, {0, 0, 0, 0});
}

}  // namespace

Desc desc_of(const Layout& layout, DType type) {
  if (layout.block > 1) return blocked_desc(layout, type_of(type));
  return Desc(extents_of(layout), type_of(type), Dims{layout.stride, layout.stride + 4});
}

Desc any_desc(const Dims& dims, DType type) {
  return Desc(dims, type_of(type), dnnl::memory::format_tag::any);
}

Desc any_of(const Desc& desc) {
  return Desc(onednn::dims_of(desc), onednn::data_type_of(desc), dnnl::memory::format_tag::any);
}

Desc plain_desc(const Dims& dims, DType type) {
  Dims strides(dims.size(), 1);
  for (std::size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return Desc(dims, type_of(type), strides);
}

}  // namespace trainyard::onednn
