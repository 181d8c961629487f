// Ops whose elements need to know where they are, written once for tensors of any layout:
// out[place] = body(place), and sums of each channel.
//
// The elements are visited in the order of memory, so that neighbouring calls read and write
// neighbouring elements in every layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/host_device.h"
#include "tensor/layout.h"

namespace trainyard {

/// The place of an element: sample, channel, and pixel in row-major order, with its offset in
/// memory; where channels are in blocks, also the width of one and the channel's index in its own.
struct Place {
  std::int64_t n, c, pixel, offset;
  std::int64_t block = 0, lane = 0;
};

/// Exact division of 32-bit numbers by a fixed one, which the CPU does in vectors.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::int64_t by)
      : by_(static_cast<std::uint32_t>(by)), inverse_(1.0 / static_cast<double>(by)) {}

  TY_HD std::uint32_t operator()(std::uint32_t number) const {
#ifdef __CUDA_ARCH__
    return number / by_;
#else
    // The product is at most one unit in the last place off, so its floor is the quotient or, where
    // that has no remainder, one less.
    const auto quotient = static_cast<std::uint32_t>(number * inverse_);
    return number - quotient * by_ == by_ ? quotient + 1 : quotient;
#endif
  }

 private:
  std::uint32_t by_ = 1;
  double inverse_ = 1;
};

/// A tensor whose pixels are equally spaced, as those of all tensors but some slices are. Plain
/// data for functors.
struct Places {
  std::int64_t images = 1, channels = 1, padded = 1;
  std::int64_t width = 1, pixels = 1;
  std::int64_t image_stride = 1, block_stride = 1, pixel_stride = 1;
  int shift = 0;          // log2 of the channels in a block
  std::int64_t mask = 0;  // the channels in a block, less 1

  Places() = default;
  explicit Places(const Layout& layout)
      : images(layout.extent[0]),
        channels(layout.extent[1]),
        padded(layout.padded_channels),
        width(layout.extent[3]),
        pixels(layout.extent[2] * layout.extent[3]),
        image_stride(layout.stride[0]),
        block_stride(layout.stride[1]),
        pixel_stride(layout.stride[layout.extent[3] > 1 ? 3 : 2]),
        mask(layout.block - 1) {
    while (std::int64_t{1} << shift < layout.block) ++shift;
    TY_CHECK(std::int64_t{1} << shift == layout.block, "a block has a power of two of channels");
    TY_CHECK(layout.extent[2] == 1 || layout.extent[3] == 1 ||
                 layout.stride[2] == layout.extent[3] * layout.stride[3],
             "the pixels of an image are equally spaced");
  }

  TY_HD std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t pixel) const {
    return n * image_stride + (c >> shift) * block_stride + (c & mask) + pixel * pixel_stride;
  }
  TY_HD std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return offset(n, c, h * width + w);
  }
  /// The element of another tensor's channel and sample at another pixel. With equal blocks, a
  /// block's channels are as close here as they are there.
  TY_HD std::int64_t offset(const Place& at, std::int64_t pixel) const {
    return at.block == mask + 1 ? offset(at.n, at.c - at.lane, pixel) + at.lane
                                : offset(at.n, at.c, pixel);
  }
  /// Channels next to each other in memory, padding included.
  [[nodiscard]] TY_HD std::int64_t lanes() const {
    return mask > 0 ? mask + 1 : block_stride == 1 ? padded : 1;
  }
  /// All pixels of all images.
  [[nodiscard]] TY_HD std::int64_t all_pixels() const { return images * pixels; }
};

/// out = body(place) for every element of `out`, and zero for its padding. A body is a struct with
/// `Arithmetic<T> operator()(const Place&) const`; the place's offset is that in `out`. It may read
/// `out` at that offset alone. A row is up to kRowElements adjacent elements.
template <class T, class Body>
struct PlaceMap {
  static constexpr std::int64_t kRowElements = 2048;

  Places to;
  T* out;
  Body body;
  std::int64_t lanes, row_pixels, map_rows, groups;

  PlaceMap(const TensorView& tensor, const Body& function)
      : to(tensor.layout),
        out(tensor.as<T>()),
        body(function),
        lanes(to.lanes()),
        row_pixels(kRowElements > lanes ? kRowElements / lanes : 1),
        map_rows((to.pixels + row_pixels - 1) / row_pixels),
        groups((to.padded + lanes - 1) / lanes) {}
  [[nodiscard]] std::int64_t rows() const { return to.images * groups * map_rows; }

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t map = row / map_rows, first_pixel = row % map_rows * row_pixels;
    const std::int64_t n = map / groups, first = map % groups * lanes;
    const std::int64_t left = to.pixels - first_pixel;
    const std::int64_t count = left < row_pixels ? left : row_pixels;
    const std::int64_t begin = to.offset(n, first, first_pixel);
    if (to.mask > 0) {
      for (std::int64_t i = 0; i < count; ++i) {
        set_block(team, n, first, first_pixel + i, begin + i * to.pixel_stride);
      }
      return;
    }
    if (lanes == 1) {
      team.each(count, [&](std::int64_t i) {
        set({n, first, first_pixel + i, begin + i * to.pixel_stride});
      });
      return;
    }
    const auto width = static_cast<std::uint32_t>(lanes);
    team.each(count * lanes, [&](std::int64_t i) {
      const std::uint32_t pixel = static_cast<std::uint32_t>(i) / width;
      const std::uint32_t lane = static_cast<std::uint32_t>(i) - pixel * width;
      set({n, first + lane, first_pixel + pixel, begin + pixel * to.pixel_stride + lane});
    });
  }

 private:
  /// A block's channels of a pixel. The loop has no condition, so that it becomes vectors.
  template <class Team>
  TY_HD void set_block(const Team& team, std::int64_t n, std::int64_t first, std::int64_t pixel,
                       std::int64_t begin) const {
    const std::int64_t left = to.channels - first, kept = left < lanes ? left : lanes;
    team.each(kept, [&](std::int64_t lane) {
      out[begin + lane] =
          static_cast<T>(body(Place{n, first + lane, pixel, begin + lane, lanes, lane}));
    });
    team.each(lanes - kept, [&](std::int64_t lane) { out[begin + kept + lane] = T{}; });
  }
  TY_HD void set(const Place& place) const {
    out[place.offset] = place.c < to.channels ? static_cast<T>(body(place)) : T{};
  }
};

/// Runs a PlaceMap.
template <class T, class Launcher, class Body>
void map_places(const Launcher& launcher, const TensorView& out, const Body& body) {
  const PlaceMap<T, Body> map(out, body);
  launcher.rows(map.rows(), map);
}

/// Two sums in double, for a gradient of each of two parameters.
struct PairSum {
  double first = 0, second = 0;
  TY_HD PairSum& operator+=(const PairSum& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

/// For every channel, the sums over all pixels of body(place), a PairSum, in the order of columns()
/// and in double: to first[c] and second[c], each of which may be null. A column is a channel.
template <class A, class Body>
struct ChannelSums {
  using Sum = PairSum;
  Places at;
  Body body;
  A* first;
  A* second;

  TY_HD PairSum operator()(std::int64_t row, std::int64_t c) const {
    const std::int64_t n = row / at.pixels, pixel = row - n * at.pixels;
    return body(Place{n, c, pixel, at.offset(n, c, pixel)});
  }
  TY_HD void finish(std::int64_t c, const PairSum& sum) const {
    if (first != nullptr) first[c] = static_cast<A>(sum.first);
    if (second != nullptr) second[c] = static_cast<A>(sum.second);
  }
};

/// Bytes of workspace that sum_channels() needs.
[[nodiscard]] std::size_t channel_sum_bytes(const Shape& shape);
/// The most elements that a tensor of this shape has in any layout, padding included.
[[nodiscard]] std::int64_t most_elements(const Shape& shape);

/// Runs ChannelSums over the places of a tensor with this layout.
template <class A, class Launcher, class Body>
void sum_channels(const Launcher& launcher, const Layout& layout, const Body& body, A* first,
                  A* second, void* workspace) {
  const ChannelSums<A, Body> sums{Places(layout), body, first, second};
  launcher.columns(sums.at.all_pixels(), sums.at.channels, sums, static_cast<PairSum*>(workspace));
}

/// The data of the parameter or gradient at `index`, or null if there is none.
template <class A>
[[nodiscard]] A* data_at(const std::vector<TensorView>& tensors, std::size_t index) {
  return index < tensors.size() ? tensors[index].as<A>() : nullptr;
}

}  // namespace trainyard
