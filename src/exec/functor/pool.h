// Pooling as functors, for devices without a library that does it deterministically (GPUs).
//
// One call of a functor computes P channels of one pixel: forward iterates over the pixel's window,
// backward gathers from the windows that cover the pixel, in row-major order. No call adds to
// memory that another call writes, so the result does not depend on how the work is split.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "exec/functor/channel_rows.h"
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

/// A pixel of a map and the first of its channels.
struct PackIndex {
  std::int64_t n, h, w, c;
};

/// The shapes and layouts of one pooling step. `packs` counts packs of P channels.
struct PoolMaps {
  PoolAxis h, w;
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
  /// Divisor of the average over one window.
  TY_HD std::int64_t divisor(const PoolAxis::Span& rows, const PoolAxis::Span& columns,
                             bool count_pad) const {
    if (count_pad) return rows.counted * columns.counted;
    return (rows.last - rows.first) * (columns.last - columns.first);
  }
};

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
    for (std::int64_t h = rows.first; h < rows.last; ++h) {
      for (std::int64_t w = columns.first; w < columns.last; ++w) {
        const Pack<T, P> value = load(at, h, w);
        const std::int32_t here = tap_of(rows, columns, h, w);
        for (int k = 0; k < P; ++k) {
          const A new_value = static_cast<A>(value.value[k]), old = static_cast<A>(best.value[k]);
          const bool wins = old == old && !(new_value <= old);
          best.value[k] = wins ? value.value[k] : best.value[k];
          tap[k] = wins ? here : tap[k];
        }
      }
    }
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
    for (std::int64_t h = rows.first; h < rows.last; ++h) {
      for (std::int64_t w = columns.first; w < columns.last; ++w) {
        const Pack<T, P> value = load_pack<T, P>(x + maps.input.offset(at.n, at.c, h, w));
        for (int k = 0; k < P; ++k) total[k] += static_cast<A>(value.value[k]);
      }
    }
    const A divisor = static_cast<A>(maps.divisor(rows, columns, count_pad));
    Pack<T, P> out;
    for (int k = 0; k < P; ++k) out.value[k] = static_cast<T>(total[k] / divisor);
    store_pack<T, P>(y + maps.output.offset(at.n, at.c, at.h, at.w), out);
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
