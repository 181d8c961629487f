// Ops whose elements need to know where they are, written once for tensors of any layout:
// out[place] = body(place). (Sums of each channel are in channel_sums.h.)
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

/// The index of an element: sample, channel, and pixel in row-major order, with its offset in
/// memory; where channels are in blocks, also the width of one and the channel's index in its own.
struct ElementIndex {
  std::int64_t n, c, pixel, offset;
  std::int64_t block = 0, lane = 0;
};

/// Exact division of 32-bit numbers by a fixed one, which the CPU does in vectors.
class Divisor {
 public:
  Divisor() = default;
  TY_HD explicit Divisor(std::int64_t by)
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

  TY_HD std::int64_t channel_offset(std::int64_t c) const {
    return (c >> shift) * block_stride + (c & mask);
  }
  TY_HD std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t pixel) const {
    return n * image_stride + channel_offset(c) + pixel * pixel_stride;
  }
  TY_HD std::int64_t offset(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return offset(n, c, h * width + w);
  }
  /// The element of another tensor's channel and sample at another pixel. With equal blocks, a
  /// block's channels are as close here as they are there.
  TY_HD std::int64_t offset(const ElementIndex& at, std::int64_t pixel) const {
    return at.block == mask + 1 ? offset(at.n, at.c - at.lane, pixel) + at.lane
                                : offset(at.n, at.c, pixel);
  }
  /// Channels next to each other in memory, padding included.
  [[nodiscard]] TY_HD std::int64_t lanes() const {
    return mask > 0 ? mask + 1 : block_stride == 1 ? padded : 1;
  }
  /// How many of `count` channels from `c` on are contiguous in memory.
  [[nodiscard]] TY_HD std::int64_t together(std::int64_t c, std::int64_t count) const {
    const std::int64_t room = mask > 0 ? mask + 1 - (c & mask) : block_stride == 1 ? count : 1;
    return count < room ? count : room;
  }
  /// The place of a channel of a pixel.
  [[nodiscard]] TY_HD ElementIndex place(std::int64_t n, std::int64_t c, std::int64_t pixel) const {
    return {n, c, pixel, offset(n, c, pixel), mask > 0 ? mask + 1 : 0, c & mask};
  }
  /// All pixels of all images.
  [[nodiscard]] TY_HD std::int64_t all_pixels() const { return images * pixels; }
};

/// Places beside each other in memory: channels of one pixel, or pixels of one row of a map.
struct Strip {
  ElementIndex first;
  std::int64_t h, w;  // position of the first
  std::int64_t count;
  bool channels;
  /// ElementIndex k of it.
  [[nodiscard]] TY_HD ElementIndex place(std::int64_t k) const {
    ElementIndex at = first;
    (channels ? at.c : at.pixel) += k;
    return at;
  }
};

/// Gives a strip's places [begin, end) the values of a tensor's elements from `in` on, `step`
/// apart.
template <class T, class Set>
TY_HD void copy_run(const T* in, std::int64_t step, std::int64_t begin, std::int64_t end,
                    const Set& set) {
  using A = Arithmetic<T>;
  if (step == 1) {
    set(begin, end, [in, begin](std::int64_t k) { return static_cast<A>(in[k - begin]); });
  } else {
    set(begin, end,
        [in, begin, step](std::int64_t k) { return static_cast<A>(in[(k - begin) * step]); });
  }
}

/// The same of a pixel's channels from `c` on.
template <class T, class Set>
TY_HD void copy_channels(const T* in, const Places& from, std::int64_t n, std::int64_t c,
                         std::int64_t pixel, std::int64_t begin, std::int64_t end, const Set& set) {
  if (from.mask == 0) {
    if (begin < end) copy_run(in + from.offset(n, c, pixel), from.block_stride, begin, end, set);
    return;
  }
  while (begin < end) {
    const std::int64_t some = from.together(c, end - begin);
    copy_run(in + from.offset(n, c, pixel), 1, begin, begin + some, set);
    c += some;
    begin += some;
  }
}

/// target[k] = value(k) for k in [begin, end), in vectors: whole blocks without a condition.
template <class T, class Value>
TY_HD void fill_run(T* target, std::int64_t begin, std::int64_t end, const Value& value) {
  if (end - begin == 16) {
#pragma GCC ivdep
    for (std::int64_t k = 0; k < 16; ++k) target[begin + k] = static_cast<T>(value(begin + k));
    return;
  }
#pragma GCC ivdep
  for (std::int64_t k = begin; k < end; ++k) target[k] = static_cast<T>(value(k));
}

/// Takes any values: to ask whether a body has strip().
struct AnySet {
  template <class Value>
  TY_HD void operator()(std::int64_t /*begin*/, std::int64_t /*end*/, const Value&) const {}
};

/// out = body(place) for every element of `out`, and zero for its padding. A body is a struct with
/// `Arithmetic<T> operator()(const ElementIndex&) const`; the place's offset is that in `out`. It
/// may read `out` at that offset alone. A row is up to kRowElements adjacent elements.
///
/// A body with much to find out about where it is has strip(strip, set) instead, which calls
/// set(begin, end, value) for parts that together are the whole strip; value(k) is that of place k.
template <class T, class Body>
struct PlaceMap {
  static constexpr std::int64_t kRowElements = 2048;
  static constexpr bool kInStrips = requires(const Body& asked, const Strip& strip) {
    asked.strip(strip, AnySet{});
  };

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
    if constexpr (Team::kSerial && kInStrips) {
      return lanes > 1 ? set_pixels(n, first, first_pixel, count, begin)
                       : set_rows(n, first, first_pixel, count, begin);
    }
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
      out[begin + lane] = value(ElementIndex{n, first + lane, pixel, begin + lane, lanes, lane});
    });
    team.each(lanes - kept, [&](std::int64_t lane) { out[begin + kept + lane] = T{}; });
  }
  TY_HD void set(const ElementIndex& place) const {
    out[place.offset] = place.c < to.channels ? value(place) : T{};
  }
  TY_HD T value(const ElementIndex& place) const {
    if constexpr (kInStrips) {
      const std::int64_t h = place.pixel / to.width;
      T found{};
      body.strip(Strip{place, h, place.pixel - h * to.width, 1, lanes > 1},
                 [&](std::int64_t begin, std::int64_t end, const auto& value) {
                   if (begin < end) found = static_cast<T>(value(begin));
                 });
      return found;
    } else {
      return static_cast<T>(body(place));
    }
  }
  TY_HD void set_strip(const Strip& strip) const {
    T* const target = out + strip.first.offset;
    body.strip(strip, [target](std::int64_t begin, std::int64_t end, const auto& value) {
      fill_run(target, begin, end, value);
    });
  }
  /// Strips of channels, pixel by pixel.
  TY_HD void set_pixels(std::int64_t n, std::int64_t first, std::int64_t pixel, std::int64_t count,
                        std::int64_t begin) const {
    const std::int64_t left = to.channels - first, kept = left < lanes ? left : lanes;
    std::int64_t h = pixel / to.width, w = pixel - h * to.width;
    const std::int64_t block = to.mask > 0 ? lanes : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      set_strip(Strip{ElementIndex{n, first, pixel + i, begin, block, 0}, h, w, kept, true});
      for (std::int64_t lane = kept; lane < lanes; ++lane) out[begin + lane] = T{};
      begin += to.pixel_stride;
      if (++w == to.width) {
        w = 0;
        ++h;
      }
    }
  }
  /// Strips of pixels, or pixels alone if they are apart in memory.
  TY_HD void set_rows(std::int64_t n, std::int64_t c, std::int64_t pixel, std::int64_t count,
                      std::int64_t begin) const {
    std::int64_t h = pixel / to.width, w = pixel - h * to.width;
    const std::int64_t most = to.pixel_stride == 1 ? to.width : 1;
    while (count > 0) {
      const std::int64_t left = to.width - w, row = left < most ? left : most;
      const std::int64_t some = row < count ? row : count;
      if (c < to.channels) {
        set_strip(Strip{ElementIndex{n, c, pixel, begin}, h, w, some, false});
      } else {
        for (std::int64_t k = 0; k < some; ++k) out[begin + k] = T{};
      }
      begin += some * to.pixel_stride;
      pixel += some;
      count -= some;
      w += some;
      if (w == to.width) {
        w = 0;
        ++h;
      }
    }
  }
};

/// Runs a PlaceMap.
template <class T, class Launcher, class Body>
void map_indexed(const Launcher& launcher, const TensorView& out, const Body& body) {
  const PlaceMap<T, Body> map(out, body);
  launcher.rows(map.rows(), map);
}

/// The data of the parameter or gradient at `index`, or null if there is none.
template <class A>
[[nodiscard]] A* data_at(const std::vector<TensorView>& tensors, std::size_t index) {
  return index < tensors.size() ? tensors[index].as<A>() : nullptr;
}

}  // namespace trainyard
