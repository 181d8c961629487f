// Tensors as rows of channels, for the functors of batch norm, pooling and biases: a row is a
// pixel.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/host_device.h"
#include "launcher/pack.h"
#include "tensor/layout.h"

namespace trainyard {

/// W neighbouring channels of a row, in packs of P.
template <class T, int P, int W>
struct RowPacks {
  Pack<T, P> pack[W / P];
  TY_HD T operator[](int k) const { return pack[k / P].value[k % P]; }
  TY_HD void set(int k, T value) { pack[k / P].value[k % P] = value; }
};

/// The rows of a tensor: image by image, pixels in row-major order. Supports every layout without
/// inner blocks whose pixels are equally spaced inside an image: plain tensors, channels last, and
/// channel slices of both.
struct ChannelRows {
  std::int64_t count = 0;     // rows
  std::int64_t channels = 0;  // the tensor's
  std::int64_t padded = 0;    // with the padding of channels last
  std::int64_t pixels = 1;    // rows of an image
  std::int64_t image_stride = 0, pixel_stride = 0, channel_stride = 1;
  bool even = false;  // images are spaced as their pixels are: no division

  ChannelRows() = default;
  explicit ChannelRows(const Layout& layout)
      : count(layout.extent[0] * layout.extent[2] * layout.extent[3]),
        channels(layout.extent[1]),
        padded(layout.padded_channels),
        pixels(layout.extent[2] * layout.extent[3]),
        image_stride(layout.stride[0]),
        pixel_stride(pixels == 1 ? layout.stride[0] : layout.stride[layout.extent[3] > 1 ? 3 : 2]),
        channel_stride(layout.stride[1]),
        even(layout.extent[0] == 1 || image_stride == pixels * pixel_stride) {
    TY_CHECK(layout.block == 1, "rows of channels have no inner blocks");
    TY_CHECK(count <= std::numeric_limits<std::uint32_t>::max(), "rows are counted in 32 bits");
    TY_CHECK(layout.extent[2] == 1 || layout.extent[3] == 1 ||
                 layout.stride[2] == layout.extent[3] * layout.stride[3],
             "the pixels of an image are equally spaced");
  }

  /// The offset of row `row`.
  TY_HD std::int64_t offset(std::int64_t row) const {
    if (even) return row * pixel_stride;
    const auto image = static_cast<std::uint32_t>(row) / static_cast<std::uint32_t>(pixels);
    return image * image_stride + (row - image * pixels) * pixel_stride;
  }
  /// Channels [c, c + W) of a row. Without packs (P = 1) they may be apart.
  template <int P, int W, class T>
  TY_HD RowPacks<T, P, W> row(const T* data, std::int64_t row, std::int64_t c) const {
    const T* const from = data + offset(row) + c * channel_stride;
    RowPacks<T, P, W> values;
    TY_UNROLL
    for (int i = 0; i < W / P; ++i) {
      values.pack[i] = load_pack<T, P>(from + (P > 1 ? i * P : i * channel_stride));
    }
    return values;
  }
  template <int P, int W, class T>
  TY_HD void store_row(T* data, std::int64_t row, std::int64_t c,
                       const RowPacks<T, P, W>& values) const {
    T* const to = data + offset(row) + c * channel_stride;
    TY_UNROLL
    for (int i = 0; i < W / P; ++i) {
      store_pack<T, P>(to + (P > 1 ? i * P : i * channel_stride), values.pack[i]);
    }
  }
  /// True if whole packs of `width` channels are aligned to their size.
  [[nodiscard]] bool packs(std::int64_t width) const {
    return channel_stride == 1 && padded % width == 0 && pixel_stride % width == 0 &&
           image_stride % width == 0;
  }
};

}  // namespace trainyard
