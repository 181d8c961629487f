// Functors of average pooling over channel blocks, whole tensors or channel slices of wider ones.
// Values are stored in T; sums are in float, rounded once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compute/planes.h"

namespace trainyard::onednn {

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
  ThreadPlanes own;  // of the output: dy / divisor

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
