// Functors of pooling over channel blocks, whole tensors or channel slices of wider ones. Values,
// ties and NaN of maxima and the order of a gradient's sum are as in compute/pool/pool.h. (oneDNN's
// gradient for AVX2 needs more than twice as long as writing it.) Means are stored in T; their sums
// are in float, rounded once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/planes.h"

namespace trainyard::onednn {

typedef std::uint64_t PairVector __attribute__((vector_size(32)));

/// Pixels of the largest window: a tap, the place of a pixel in its window, is a byte.
inline constexpr std::int64_t kMostTaps = 256;

/// The taps of eight channels as bytes of one number: those of even channels,
/// then those of odd ones, since this order takes a shift and a mask to unpack.
inline constexpr WordVector kTapShifts{0, 0, 8, 8, 16, 16, 24, 24};

TY_AVX2 inline std::uint64_t pack_taps(const WordVector& taps) {
  const PairVector pairs = reinterpret_cast<PairVector>(taps << kTapShifts);
  return pairs[0] | pairs[1] | pairs[2] | pairs[3];
}
TY_AVX2 inline WordVector unpack_taps(std::uint64_t packed) {
  const PairVector pairs{packed, packed, packed, packed};
  return reinterpret_cast<WordVector>(pairs) >> kTapShifts & 255;
}

/// Planes whose windows have at most kMostTaps pixels.
struct MaxPlanes : PoolPlanes {
  /// The place of the taps of a row of the output.
  [[nodiscard]] TY_HD std::int64_t taps(std::int64_t plane, std::int64_t oh) const {
    return (plane * h.output + oh) * w.output * (input.block / kVectorLanes);
  }
};

/// Calls f(tap, offset of the pixel in its plane) for the pixels of a window, row by row. kSize:
/// the size of both axes if it is known when this is compiled, else 0; whole windows then need no
/// loops.
template <int kSize, class F>
TY_AVX2 inline void each_tap(const MaxPlanes& maps, const PoolAxis::Span& rows,
                             const PoolAxis::Span& columns, const F& f) {
  const std::int64_t height = rows.last - rows.first, width = columns.last - columns.first;
  const std::int64_t next_row = maps.in_plane(1, 0), next_column = maps.in_plane(0, 1);
  std::int64_t row = maps.in_plane(rows.first, columns.first);
  if (height == kSize && width == kSize && kSize > 0) {
#pragma GCC unroll 3
    for (int h = 0; h < kSize; ++h, row += next_row) {
#pragma GCC unroll 3
      for (int w = 0; w < kSize; ++w) f(h * kSize + w, row + w * next_column);
    }
    return;
  }
  std::int64_t tap = (rows.first - rows.start) * maps.w.size + columns.first - columns.start;
  for (std::int64_t h = 0; h < height; ++h, row += next_row, tap += maps.w.size) {
    for (std::int64_t w = 0; w < width; ++w) f(static_cast<int>(tap + w), row + w * next_column);
  }
}

/// The largest value under each window and its tap. A row of the launch is one of the output.
template <class T, int kSize>
struct MaxPoolRow {
  MaxPlanes maps;
  const T* x;
  T* y;
  std::uint64_t* taps;  // [pixels of the output, strips], or null

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t row) const {
    const PoolPlanes::OutputRow at = maps.output_row(row);
    const T* const in = x + at.in;
    T* out = y + at.out;
    std::uint64_t* kept = taps == nullptr ? nullptr : taps + maps.taps(at.plane, at.h);
    for (std::int64_t ow = 0; ow < maps.w.output; ++ow) {
      const PoolAxis::Span columns = maps.w.span(ow);
      maps.prefetch(in + maps.in_plane(at.rows.last, columns.first));
      for (std::int64_t lane = 0; lane < maps.input.block;
           lane += kVectorLanes, out += kVectorLanes) {
        const Largest found = largest(in + lane, at.rows, columns);
        store_channels(found.value, out, at.channels - lane);
        if (kept != nullptr) *kept++ = pack_taps(found.tap);
      }
    }
  }

 private:
  struct Largest {
    FloatVector value;
    WordVector tap;
  };
  /// `second` has higher taps.
  TY_AVX2 static Largest larger(const Largest& first, const Largest& second) {
    const auto stays = (first.value != first.value) | (second.value <= first.value);
    return {stays ? first.value : second.value, stays ? first.tap : second.tap};
  }

  TY_AVX2 Largest largest(const T* in, const PoolAxis::Span& rows,
                          const PoolAxis::Span& columns) const {
    const std::int64_t height = rows.last - rows.first, width = columns.last - columns.first;
    const std::int64_t before = (rows.first - rows.start) * maps.w.size;
    in += maps.in_plane(rows.first, columns.first);
    if (height == kSize && width == kSize && kSize > 0) return largest(in, kSize, kSize, 0);
    return largest(in, height, width, before + columns.first - columns.start);
  }
  /// Row by row, so that comparisons of different rows need not wait for each other. `tap`: that of
  /// the first pixel.
  TY_AVX2 Largest largest(const T* in, std::int64_t height, std::int64_t width,
                          std::int64_t tap) const {
    const std::int64_t row_taps = kSize > 0 ? kSize : maps.w.size;
    Largest found{};
#pragma GCC unroll 3
    for (std::int64_t h = 0; h < height; ++h, tap += row_taps) {
      const T* const from = in + maps.in_plane(h, 0);
      Largest in_row = pixel(from, tap);
#pragma GCC unroll 3
      for (std::int64_t w = 1; w < width; ++w) {
        in_row = larger(in_row, pixel(from + maps.in_plane(0, w), tap + w));
      }
      found = h == 0 ? in_row : larger(found, in_row);
    }
    return found;
  }
  TY_AVX2 static Largest pixel(const T* from, std::int64_t tap) {
    return {load_values(from), WordVector{} + static_cast<std::uint32_t>(tap)};
  }
};

/// dx = sum of dy over the windows whose maximum is this pixel, in order. A row of the launch is a
/// thread with its share of the planes. What is rounded is summed in a plane of floats that the
/// thread has for itself.
template <class T, int kSize>
struct MaxPoolGradient {
  MaxPlanes maps;
  const T* dy;
  const std::uint64_t* taps;
  T* dx;
  ThreadPlanes own;  // planes of the input; empty in float

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t thread) const {
    own.each(thread, maps.planes(), [&](std::int64_t plane, float* sums) TY_AVX2 {
      T* const out = dx + maps.offset(maps.input, plane);
      if constexpr (std::is_same_v<T, float>) {
        sum_plane(plane, out);
      } else {
        sum_plane(plane, sums);
        for (std::int64_t i = 0; i < own.floats; i += kVectorLanes) {
          store_values(load_values(sums + i), out + i);
        }
      }
    });
  }

 private:
  TY_AVX2 void sum_plane(std::int64_t plane, float* out) const {
    const T* in = dy + maps.offset(maps.output, plane);
    const std::int64_t channels = maps.output_channels(plane);
    const std::uint64_t* kept = taps + maps.taps(plane, 0);
    std::int64_t cleared = 0;  // rows, each shortly before a window adds to it
    for (std::int64_t oh = 0; oh < maps.h.output; ++oh) {
      const PoolAxis::Span rows = maps.h.span(oh);
      clear(out, cleared, rows.last);
      for (std::int64_t ow = 0; ow < maps.w.output; ++ow) {
        const PoolAxis::Span columns = maps.w.span(ow);
        for (std::int64_t lane = 0; lane < maps.input.block;
             lane += kVectorLanes, in += kVectorLanes) {
          add(load_channels(in, channels - lane), unpack_taps(*kept++), rows, columns, out + lane);
        }
      }
    }
    clear(out, cleared, maps.h.input);
  }
  TY_AVX2 void add(const FloatVector& gradient, const WordVector& taken, const PoolAxis::Span& rows,
                   const PoolAxis::Span& columns, float* out) const {
    each_tap<kSize>(maps, rows, columns, [&](int tap, std::int64_t at) TY_AVX2 {
      float* const pixel = out + at;
      const FloatVector part = taken == static_cast<std::uint32_t>(tap) ? gradient : FloatVector{};
      store_values(load_values(pixel) + part, pixel);
    });
  }
  TY_AVX2 void clear(float* out, std::int64_t& cleared, std::int64_t end) const {
    for (; cleared < end; ++cleared) {
      float* const row = out + maps.in_plane(cleared, 0);
      for (std::int64_t i = 0; i < maps.in_plane(0, maps.w.input); i += kVectorLanes) {
        store_values(FloatVector{}, row + i);
      }
    }
  }
};

/// The sum over `height` rows of `width` pixels, as a sum of the sums of rows: over whole maps,
/// rounding errors grow with height + width and not with their product.
template <class T>
TY_AVX2 inline FloatVector sum_pixels(const T* from, std::int64_t height, std::int64_t width,
                                      std::int64_t row_stride, std::int64_t pixel_stride) {
  FloatVector total{};
  for (std::int64_t h = 0; h < height; ++h, from += row_stride) {
    FloatVector row{};
    for (std::int64_t w = 0; w < width; ++w) row += load_values(from + w * pixel_stride);
    total += row;
  }
  return total;
}

/// The mean under each window. A row of the launch is a row of the output.
template <class T>
struct MeanPoolRow {
  PoolPlanes maps;
  const T* x;
  T* y;
  bool count_pad;

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t row) const {
    const PoolPlanes::OutputRow at = maps.output_row(row);
    const T* const in = x + at.in;
    T* out = y + at.out;
    for (std::int64_t ow = 0; ow < maps.w.output; ++ow, out += maps.input.block) {
      const PoolAxis::Span columns = maps.w.span(ow);
      maps.prefetch(in + maps.in_plane(at.rows.last, columns.first));
      const float divisor = static_cast<float>(maps.divisor(at.rows, columns, count_pad));
      for (std::int64_t lane = 0; lane < at.channels; lane += kVectorLanes) {
        store_channels(sum(in + lane, at.rows, columns) / divisor, out + lane, at.channels - lane);
      }
    }
  }

 private:
  TY_AVX2 FloatVector sum(const T* in, const PoolAxis::Span& rows,
                          const PoolAxis::Span& columns) const {
    return sum_pixels(in + maps.in_plane(rows.first, columns.first), rows.last - rows.first,
                      columns.last - columns.first, maps.in_plane(1, 0), maps.input.block);
  }
};

/// The windows [first, last) that cover the pixels of an axis, one pixel after the other.
struct CoveringWindows {
  std::int64_t first = 0, last = 0;

  /// Goes on to `pixel`. True if other windows cover it than the one before, and for pixel 0, which
  /// a window always covers: padding is narrower.
  TY_HD bool reach(const PoolAxis& axis, std::int64_t pixel) {
    const std::int64_t before = first + last;
    while (last < axis.output && last * axis.stride - axis.before <= pixel) ++last;
    while (first < last && first * axis.stride - axis.before + axis.size <= pixel) ++first;
    return first + last != before;
  }
};

/// dx = sum of dy / divisor over the windows that cover the pixel, in the order of sum_pixels(). A
/// row of the launch is a thread with its share of the planes. What pixels have in common is
/// computed once: windows that do not overlap cover whole runs of pixels and of rows.
template <class T>
struct MeanPoolGradient {
  PoolPlanes maps;
  const T* dy;
  T* dx;
  bool count_pad;
  ThreadPlanes own;  // planes of the output: dy / divisor

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t thread) const {
    own.each(thread, maps.planes(), [&](std::int64_t plane, float* shares) TY_AVX2 {
      divide(plane, shares);
      spread(shares, dx + maps.offset(maps.input, plane));
    });
  }

 private:
  TY_AVX2 void divide(std::int64_t plane, float* shares) const {
    const T* in = dy + maps.offset(maps.output, plane);
    const std::int64_t channels = maps.output_channels(plane);
    for (std::int64_t oh = 0; oh < maps.h.output; ++oh) {
      const PoolAxis::Span rows = maps.h.span(oh);
      for (std::int64_t ow = 0; ow < maps.w.output; ++ow) {
        const float divisor = static_cast<float>(maps.divisor(rows, maps.w.span(ow), count_pad));
        for (std::int64_t lane = 0; lane < maps.input.block; lane += kVectorLanes) {
          store_values(load_channels(in, channels - lane) / divisor, shares);
          in += kVectorLanes;
          shares += kVectorLanes;
        }
      }
    }
  }
  TY_AVX2 void spread(const float* shares, T* out) const {
    const std::int64_t row_values = maps.in_plane(1, 0);
    CoveringWindows rows;
    for (std::int64_t ih = 0; ih < maps.h.input; ++ih, out += row_values) {
      if (!rows.reach(maps.h, ih)) {
        std::copy_n(out - row_values, row_values, out);
        continue;
      }
      for (std::int64_t lane = 0; lane < maps.input.block; lane += kVectorLanes) {
        fill_row(shares + lane, rows, out + lane);
      }
    }
  }
  /// Eight channels of a row.
  TY_AVX2 void fill_row(const float* shares, const CoveringWindows& rows, T* out) const {
    CoveringWindows columns;
    FloatVector total{};
    for (std::int64_t iw = 0; iw < maps.w.input; ++iw, out += maps.input.block) {
      if (columns.reach(maps.w, iw)) total = sum(shares, rows, columns);
      store_values(total, out);
    }
  }
  TY_AVX2 FloatVector sum(const float* shares, const CoveringWindows& rows,
                          const CoveringWindows& columns) const {
    return sum_pixels(shares + maps.in_output(rows.first, columns.first), rows.last - rows.first,
                      columns.last - columns.first, maps.in_output(1, 0), maps.input.block);
  }
};

}  // namespace trainyard::onednn
