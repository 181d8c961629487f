// The memory layout of a tensor: strides, with channels optionally in inner blocks.
//
// The folder tensor holds what a tensor is without its values: element types, shapes, layouts,
// views. It allocates nothing and computes nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/host_device.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace trainyard {

/// Strides in elements over n, c, h, w. With block > 1 the channels are stored in blocks of that
/// size (oneDNN's nChw16c): stride[1] is then the stride of a block, and channels within a block
/// have stride 1. A channel slice of a wider tensor keeps the wider tensor's strides. Plain data,
/// copied into functors.
struct Layout {
  std::int64_t extent[4] = {1, 1, 1, 1};  // logical extents
  std::int64_t stride[4] = {1, 1, 1, 1};
  std::int64_t block = 1;            // channels per block
  std::int64_t padded_channels = 1;  // with the padding of the last block (or multiple)
  int rank = 0;

  TY_HD std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    const std::int64_t channel = block == 1 ? c * stride[1] : (c / block) * stride[1] + c % block;
    return n * stride[0] + channel + h * stride[2] + w * stride[3];
  }
  bool operator==(const Layout&) const = default;
};

/// Row-major n, c, h, w: the only layout of files, parameters and host batches.
Layout plain_layout(const Shape& shape);
/// Channels in blocks of `block`, the last block padded (nChw16c for block = 16).
Layout blocked_layout(const Shape& shape, std::int64_t block);
/// n, h, w, c with the channels padded to a multiple of `multiple`.
Layout channels_last_layout(const Shape& shape, std::int64_t multiple);
/// n, h, w, c without padding: the steps of a sequence [n, c, 1, t] are rows of channels, side by
/// side. Plain with fewer than four axes.
Layout row_layout(const Shape& shape);

[[nodiscard]] Shape shape_of(const Layout& layout);
/// Elements of memory from the first to the last, padding included.
[[nodiscard]] std::int64_t span_elements(const Layout& layout);
/// True if the memory contains padding channels.
[[nodiscard]] bool has_padding(const Layout& layout);
/// True if every element of the span belongs to the tensor or to its padding (no holes).
[[nodiscard]] bool is_dense(const Layout& layout);
/// True if both have every logical element at the same offset and equal spans.
[[nodiscard]] bool same_memory(const Layout& a, const Layout& b);
/// The channels [first, first + count) of `whole`; the caller adds the slice's offset to the
/// pointer. In blocked layouts `first` must be a multiple of the block.
[[nodiscard]] Layout channel_slice(const Layout& whole, std::int64_t first, std::int64_t count);
/// "nchw", "nChw16c", "nhwc", or strides in full.
[[nodiscard]] std::string text_of(const Layout& layout);

/// A tensor in memory, not owned.
struct TensorView {
  void* data = nullptr;
  DType type = DType::f32;
  Layout layout;

  template <class T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data);
  }
};

}  // namespace trainyard
