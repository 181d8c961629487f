// Functors of maximum pooling over channel blocks, whole tensors or channel slices of wider ones:
// values, ties, NaN and the order of a gradient's sum are those of exec/functor/pool.h. (oneDNN's
// gradient for AVX2 needs more than twice as long as writing it.)
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/onednn/planes.h"

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

/// Calls f(tap, h, w) for the pixels of a window, row by row. kSize: the size of both axes if it is
/// known when this is compiled, else 0; whole windows then need no loops.
template <int kSize, class F>
TY_AVX2 inline void each_tap(const MaxPlanes& maps, const PoolAxis::Span& rows,
                             const PoolAxis::Span& columns, const F& f) {
  const bool whole =
      rows.last - rows.first == kSize && columns.last - columns.first == kSize && kSize > 0;
  if (whole) {
#pragma GCC unroll 3
    for (int h = 0; h < kSize; ++h) {
#pragma GCC unroll 3
      for (int w = 0; w < kSize; ++w) f(h * kSize + w, rows.first + h, columns.first + w);
    }
    return;
  }
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    for (std::int64_t w = columns.first; w < columns.last; ++w) {
      f(static_cast<int>((h - rows.start) * maps.w.size + w - columns.start), h, w);
    }
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
      for (std::int64_t lane = 0; lane < maps.input.block;
           lane += kVectorLanes, out += kVectorLanes) {
        WordVector taken;
        store_channels(largest(in + lane, at.rows, columns, taken), out, at.channels - lane);
        if (kept != nullptr) *kept++ = pack_taps(taken);
      }
    }
  }

 private:
  TY_AVX2 FloatVector largest(const T* in, const PoolAxis::Span& rows,
                              const PoolAxis::Span& columns, WordVector& taken) const {
    FloatVector best = load_values(in + maps.in_plane(rows.first, columns.first));
    taken = WordVector{} + static_cast<std::uint32_t>((rows.first - rows.start) * maps.w.size +
                                                      columns.first - columns.start);
    const std::int64_t ahead = maps.in_plane(maps.h.stride, 0);  // the next row's windows
    each_tap<kSize>(maps, rows, columns, [&](int tap, std::int64_t h, std::int64_t w) TY_AVX2 {
      const T* const pixel = in + maps.in_plane(h, w);
      __builtin_prefetch(pixel + ahead);
      const FloatVector value = load_values(pixel);
      const auto wins = (best == best) & ~(value <= best);
      best = wins ? value : best;
      taken = wins ? WordVector{} + static_cast<std::uint32_t>(tap) : taken;
    });
    return best;
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
  ThreadPlanes own;  // of the input; empty in float

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
    each_tap<kSize>(maps, rows, columns, [&](int tap, std::int64_t h, std::int64_t w) TY_AVX2 {
      float* const pixel = out + maps.in_plane(h, w);
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

}  // namespace trainyard::onednn
