// Pooling as functors, for GPUs, and on the CPU for maps that are not in channel blocks.
//
// One call of a functor computes P channels of one pixel: forward iterates over the pixel's window,
// backward gathers from the windows that cover the pixel, in row-major order. No call adds to
// memory that another call writes, so the result does not depend on how the work is split.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "compute/channel_rows.h"
#include "ops/pool.h"

namespace trainyard {

/// One axis of the windows.
struct PoolAxis {
  std::int64_t input, output, size, stride, before;
  std::int64_t counted_after;  // padding after the input that count_pad counts

  /// The part [first, last) of the input under a window that begins at `start`, and the cells of it
  /// that count_pad counts.
  struct Span {
    std::int64_t start, first, last, counted;
  };
  TY_HD Span span(std::int64_t window) const {
    const std::int64_t start = window * stride - before;
    const std::int64_t end = start + size;
    const std::int64_t counted = input + counted_after;
    return {start, start > 0 ? start : 0, end < input ? end : input,
            (end < counted ? end : counted) - start};
  }
  /// The windows [first, last) that cover a pixel.
  TY_HD std::int64_t first_window(std::int64_t pixel) const {
    const std::int64_t from = pixel + before - size + 1;
    return from <= 0 ? 0 : (from + stride - 1) / stride;
  }
  TY_HD std::int64_t last_window(std::int64_t pixel) const {
    const std::int64_t last = (pixel + before) / stride + 1;
    return last < output ? last : output;
  }
};

/// Both axes of the windows.
struct PoolAxes {
  PoolAxis h, w;

  /// Divisor of the average over one window.
  TY_HD std::int64_t divisor(const PoolAxis::Span& rows, const PoolAxis::Span& columns,
                             bool count_pad) const {
    if (count_pad) return rows.counted * columns.counted;
    return (rows.last - rows.first) * (columns.last - columns.first);
  }
};
inline PoolAxes pool_axes(const PoolOp& op, const Shape& input) {
  const PoolOp::Geometry window = op.geometry(input);
  return {.h = {input.h(), window.output_h, window.size.h, window.stride.h, window.margins.top,
                window.counted.bottom},
          .w = {input.w(), window.output_w, window.size.w, window.stride.w, window.margins.left,
                window.counted.right}};
}

/// A pixel of a map and the first of its channels.
struct PackIndex {
  std::int64_t n, h, w, c;
};

/// The shapes and layouts of one pooling step. `packs` counts packs of P channels.
struct PoolMaps : PoolAxes {
  Layout input, output;
  std::uint32_t packs;

  /// The position of call `i` in a map of height x width pixels.
  template <int P>
  TY_HD PackIndex pack_at(std::int64_t i, std::int64_t height, std::int64_t width) const {
    const std::uint32_t at = static_cast<std::uint32_t>(i);
    const std::uint32_t pixel = at / packs;
    const std::uint32_t row = pixel / static_cast<std::uint32_t>(width);
    const std::uint32_t image = row / static_cast<std::uint32_t>(height);
    return {image, row - image * static_cast<std::uint32_t>(height),
            pixel - row * static_cast<std::uint32_t>(width),
            static_cast<std::int64_t>(at - pixel * packs) * P};
  }
  template <int P>
  TY_HD PackIndex output_pack(std::int64_t i) const {
    return pack_at<P>(i, h.output, w.output);
  }
  template <int P>
  TY_HD PackIndex input_pack(std::int64_t i) const {
    return pack_at<P>(i, h.input, w.input);
  }
  /// The number of the call that makes the output at this window.
  template <int P>
  TY_HD std::int64_t output_call(const PackIndex& at, std::int64_t oh, std::int64_t ow) const {
    return ((at.n * h.output + oh) * w.output + ow) * packs + at.c / P;
  }
};

/// Columns of a window whose loads a thread has in flight together.
inline constexpr int kWindowLoads = 3;

/// Calls visit(pack, h, w) for each pixel of a window, row by row; load(h, w) gives the pack.
template <class Load, class Visit>
TY_HD void visit_window(const PoolAxis::Span& rows, const PoolAxis::Span& columns, const Load& load,
                        const Visit& visit) {
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    add_staged<kWindowLoads>(
        columns.first, columns.last, [&](std::int64_t w) { return load(h, w); },
        [&](std::int64_t w, const auto& pack) { visit(pack, h, w); });
  }
}

/// The largest value under each window and its tap; the first of equal values wins, NaN wins over
/// everything, so that it is not lost.
template <class T, int P, class Tap>
struct MaxPoolWindow {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* x;
  T* y;
  Tap* taps;  // [calls, P], or null

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.output_pack<P>(i);
    const PoolAxis::Span rows = maps.h.span(at.h), columns = maps.w.span(at.w);
    Pack<T, P> best = load(at, rows.first, columns.first);
    std::int32_t tap[P];
    for (int k = 0; k < P; ++k) tap[k] = tap_of(rows, columns, rows.first, columns.first);
    const auto find = [&](std::int64_t h, std::int64_t w) { return load(at, h, w); };
    visit_window(rows, columns, find, [&](const Pack<T, P>& value, std::int64_t h, std::int64_t w) {
      const std::int32_t here = tap_of(rows, columns, h, w);
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        const A new_value = static_cast<A>(value.value[k]), old = static_cast<A>(best.value[k]);
        const bool wins = old == old && !(new_value <= old);
        best.value[k] = wins ? value.value[k] : best.value[k];
        tap[k] = wins ? here : tap[k];
      }
    });
    store_pack<T, P>(y + maps.output.offset(at.n, at.c, at.h, at.w), best);
    if (taps == nullptr) return;
    for (int k = 0; k < P; ++k) taps[i * P + k] = static_cast<Tap>(tap[k]);
  }

 private:
  TY_HD Pack<T, P> load(const PackIndex& at, std::int64_t h, std::int64_t w) const {
    return load_pack<T, P>(x + maps.input.offset(at.n, at.c, h, w));
  }
  TY_HD std::int32_t tap_of(const PoolAxis::Span& rows, const PoolAxis::Span& columns,
                            std::int64_t h, std::int64_t w) const {
    return static_cast<std::int32_t>((h - rows.start) * maps.w.size + w - columns.start);
  }
};

/// dx = sum of dy over the windows whose maximum is this pixel, in order.
template <class T, int P, class Tap>
struct MaxPoolGradient {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* dy;
  const Tap* taps;
  T* dx;

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.input_pack<P>(i);
    A total[P] = {};
    for (std::int64_t oh = maps.h.first_window(at.h); oh < maps.h.last_window(at.h); ++oh) {
      for (std::int64_t ow = maps.w.first_window(at.w); ow < maps.w.last_window(at.w); ++ow) {
        const std::int64_t tap = (at.h + maps.h.before - oh * maps.h.stride) * maps.w.size + at.w +
                                 maps.w.before - ow * maps.w.stride;
        const Tap* const taken = taps + maps.output_call<P>(at, oh, ow) * P;
        const Pack<T, P> gradient = load_pack<T, P>(dy + maps.output.offset(at.n, at.c, oh, ow));
        for (int k = 0; k < P; ++k) {
          total[k] += taken[k] == tap ? static_cast<A>(gradient.value[k]) : A(0);
        }
      }
    }
    Pack<T, P> out;
    for (int k = 0; k < P; ++k) out.value[k] = static_cast<T>(total[k]);
    store_pack<T, P>(dx + maps.input.offset(at.n, at.c, at.h, at.w), out);
  }
};

/// The mean under each window, summed row by row.
template <class T, int P>
struct AveragePoolWindow {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* x;
  T* y;
  bool count_pad;

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.output_pack<P>(i);
    const PoolAxis::Span rows = maps.h.span(at.h), columns = maps.w.span(at.w);
    A total[P] = {};
    const auto find = [&](std::int64_t h, std::int64_t w) {
      return load_pack<T, P>(x + maps.input.offset(at.n, at.c, h, w));
    };
    visit_window(rows, columns, find, [&](const Pack<T, P>& value, std::int64_t, std::int64_t) {
      TY_UNROLL
      for (int k = 0; k < P; ++k) total[k] += static_cast<A>(value.value[k]);
    });
    const A divisor = static_cast<A>(maps.divisor(rows, columns, count_pad));
    Pack<T, P> out;
    for (int k = 0; k < P; ++k) out.value[k] = static_cast<T>(total[k] / divisor);
    store_pack<T, P>(y + maps.output.offset(at.n, at.c, at.h, at.w), out);
  }
};

/// The mean of whole maps, which one thread a map would read too slowly: sums in the arithmetic
/// type within a strip of at most 32 pixels, then in double. A column is a channel of an image,
/// those of its padding included.
template <class T, int P>
struct MapMeans {
  using A = Arithmetic<T>;
  using Sum = double;
  static constexpr int kColumns = P;
  static constexpr std::int64_t kStripRows = 32;
  static constexpr int kLoads = 8;  // loads of a thread in flight
  ChannelRows input;
  Layout output;
  const T* x;
  T* y;

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t count,
                 double* sums) const {
    for (std::int64_t k = 0; k < count; k += P) add_pack(begin, end, column + k, sums + k);
  }
  TY_HD void finish(std::int64_t column, double sum) const {
    const std::int64_t n = column / input.padded, c = column - n * input.padded;
    const A mean = static_cast<A>(sum / static_cast<double>(input.pixels));
    y[output.offset(n, c, 0, 0)] = static_cast<T>(mean);
  }

 private:
  TY_HD void add_pack(std::int64_t begin, std::int64_t end, std::int64_t column,
                      double* sums) const {
    const std::int64_t n = column / input.padded, c = column - n * input.padded;
    const T* const map = x + n * input.image_stride + c;
    A total[P] = {};
    add_staged<kLoads>(
        begin, end,
        [&](std::int64_t pixel) { return load_pack<T, P>(map + pixel * input.pixel_stride); },
        [&](std::int64_t, const Pack<T, P>& values) {
          TY_UNROLL
          for (int k = 0; k < P; ++k) total[k] += static_cast<A>(values.value[k]);
        });
    TY_UNROLL
    for (int k = 0; k < P; ++k) sums[k] += static_cast<double>(total[k]);
  }
};

/// dx = sum of dy / divisor over the windows that cover the pixel, in order.
template <class T, int P>
struct AveragePoolGradient {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* dy;
  T* dx;
  bool count_pad;

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.input_pack<P>(i);
    A total[P] = {};
    for (std::int64_t oh = maps.h.first_window(at.h); oh < maps.h.last_window(at.h); ++oh) {
      for (std::int64_t ow = maps.w.first_window(at.w); ow < maps.w.last_window(at.w); ++ow) {
        const A divisor = static_cast<A>(maps.divisor(maps.h.span(oh), maps.w.span(ow), count_pad));
        const Pack<T, P> gradient = load_pack<T, P>(dy + maps.output.offset(at.n, at.c, oh, ow));
        for (int k = 0; k < P; ++k) total[k] += static_cast<A>(gradient.value[k]) / divisor;
      }
    }
    Pack<T, P> out;
    for (int k = 0; k < P; ++k) out.value[k] = static_cast<T>(total[k]);
    store_pack<T, P>(dx + maps.input.offset(at.n, at.c, at.h, at.w), out);
  }
};

}  // namespace trainyard
