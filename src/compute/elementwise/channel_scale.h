// A map times one factor per channel of each image, and the gradient of the factors.
#pragma once

#include <array>
#include <cstdint>

#include "base/error.h"
#include "compute/elementwise/map.h"
#include "compute/walk.h"

namespace trainyard {

/// A map as contiguous lines: the channel blocks of an image, or pixels with all their channels.
struct ChannelLines {
  std::int64_t per_image = 0, length = 0;
  std::int64_t image_stride = 0, line_stride = 0;

  TY_HD std::int64_t offset(std::int64_t line) const {
    return line / per_image * image_stride + line % per_image * line_stride;
  }
};

[[nodiscard]] inline ChannelLines block_lines(const Layout& layout) {
  return {layout.padded_channels / layout.block, layout.extent[2] * layout.extent[3] * layout.block,
          layout.stride[0], layout.stride[1]};
}

[[nodiscard]] inline ChannelLines pixel_lines(const Layout& layout) {
  return {layout.extent[2] * layout.extent[3], layout.padded_channels, layout.stride[0],
          layout.stride[3]};
}

/// out = x * factors[n, c], with zeros as padding. A row is a line: of a block of B channels, or
/// with B = 0 a pixel.
template <class T, int B>
struct ScaledLine {
  T* out;
  const T* x;
  const T* factors;
  ChannelLines to, from;
  Layout scale;  // layout of the factors
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t line) const {
    using A = Arithmetic<T>;
    const std::int64_t n = line / to.per_image;
    const std::int64_t first = line % to.per_image * B;
    const std::int64_t o = to.offset(line), i = from.offset(line);
    team.each(to.length, [&](std::int64_t k) {
      const std::int64_t c = B == 0 ? k : first + k % (B == 0 ? 1 : B);
      if (c >= scale.extent[1]) {
        out[o + k] = T{};
        return;
      }
      const A factor = static_cast<A>(factors[scale.offset(n, c, 0, 0)]);
      out[o + k] = static_cast<T>(static_cast<A>(x[i + k]) * factor);
    });
  }
};

/// The layout of the factors as a map of the extents of `map`: a channel's pixels are one value.
[[nodiscard]] inline Layout spread_over(const Layout& map, const Layout& factors) {
  Layout layout = factors;
  for (int axis = 2; axis < 4; ++axis) {
    layout.extent[axis] = map.extent[axis];
    layout.stride[axis] = 0;
  }
  return layout;
}

/// out = x * factors: maps of one shape, and factors with one value per image and channel. `out`
/// may be `x`. Where channels are not adjacent alike in both maps, element by element along w.
template <class T, class Launcher>
void scale_channels(const Launcher& launcher, const TensorView& x, const TensorView& factors,
                    const TensorView& out) {
  const Walk::Kind walk = plan_walk(std::array{x.layout, out.layout}).kind;
  const bool last = x.layout.block == 1 && x.layout.stride[1] == 1;  // n, h, w, c
  const auto lines = [&]<int B>() {
    const ChannelLines to = B == 0 ? pixel_lines(out.layout) : block_lines(out.layout);
    const ChannelLines from = B == 0 ? pixel_lines(x.layout) : block_lines(x.layout);
    launcher.rows(
        to.per_image * out.layout.extent[0],
        ScaledLine<T, B>{out.as<T>(), x.as<T>(), factors.as<T>(), to, from, factors.layout});
  };
  if (walk == Walk::Kind::dense || walk == (last ? Walk::Kind::pixels : Walk::Kind::images)) {
    if (last) return lines.template operator()<0>();
    if (x.layout.block == 1) return lines.template operator()<1>();
    if (x.layout.block == 8) return lines.template operator()<8>();
    if (x.layout.block == 16) return lines.template operator()<16>();
  }
  TensorView spread = factors;
  spread.layout = spread_over(out.layout, factors.layout);
  map<T>(launcher, Walk{}, Product{}, x, spread, out);
}

/// Channels that one row of ChannelProductSums takes, so that adjacent ones are read together.
inline constexpr std::int64_t kScaleGroup = 8;

/// sums[n, c] = sum over the pixels of a * b, in the order of a Team. A row is a group of channels
/// of an image.
template <class T>
struct ChannelProductSums {
  T* sums;
  const T* a;
  const T* b;
  Layout out, a_layout, b_layout;
  std::int64_t groups;            // groups of an image
  std::int64_t a_pixel, b_pixel;  // from one pixel to the next

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    using A = Arithmetic<T>;
    const std::int64_t n = row / groups, first = row % groups * kScaleGroup;
    for (std::int64_t c = first; c < first + kScaleGroup && c < out.extent[1]; ++c) {
      const T* const from_a = a + a_layout.offset(n, c, 0, 0);
      const T* const from_b = b + b_layout.offset(n, c, 0, 0);
      const std::int64_t pixels = a_layout.extent[2] * a_layout.extent[3];
      const A sum = team.template sum<A>(pixels, [&](std::int64_t p) -> A {
        return static_cast<A>(from_a[p * a_pixel]) * static_cast<A>(from_b[p * b_pixel]);
      });
      team.once([&] { sums[out.offset(n, c, 0, 0)] = static_cast<T>(sum); });
    }
  }
};

/// Elements from one pixel of a channel to the next.
[[nodiscard]] inline std::int64_t pixel_stride(const Layout& layout) {
  TY_CHECK(layout.extent[2] == 1 || layout.extent[3] == 1 ||
               layout.stride[2] == layout.extent[3] * layout.stride[3],
           "the pixels of an image are equally spaced");
  return layout.stride[layout.extent[3] > 1 ? 3 : 2];
}

/// sums[n, c] = sum over the pixels of a * b: the gradient of the factors from dy and x.
template <class T, class Launcher>
void sum_channel_products(const Launcher& launcher, const TensorView& a, const TensorView& b,
                          const TensorView& sums) {
  const Layout& out = sums.layout;
  const std::int64_t groups = (out.extent[1] + kScaleGroup - 1) / kScaleGroup;
  launcher.rows(out.extent[0] * groups,
                ChannelProductSums<T>{sums.as<T>(), a.as<T>(), b.as<T>(), out, a.layout, b.layout,
                                      groups, pixel_stride(a.layout), pixel_stride(b.layout)});
  zero_padding<T>(launcher, sums);
}

}  // namespace trainyard
