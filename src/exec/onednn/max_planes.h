// Functors of maximum pooling over channel blocks, whole tensors or channel slices of wider ones:
// values, ties, NaN and the order of a gradient's sum are those of exec/functor/pool.h. (oneDNN's
// gradient for AVX2 needs more than twice as long as writing it.)
//
// A plane is one block of channels of one image, [h, w, block] without gaps. Vectors are of eight
// channels, and the functions are compiled for AVX2, which every supported processor has:
// GCC lowers vectors before it inlines a functor into the launcher's code for a processor.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "exec/functor/pool.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

#define TY_AVX2 __attribute__((target("avx2")))

inline constexpr std::int64_t kMaxLanes = 8;

typedef float MaxValues __attribute__((vector_size(32)));
typedef std::uint32_t MaxWords __attribute__((vector_size(32)));
typedef std::uint64_t MaxPairs __attribute__((vector_size(32)));

TY_AVX2 inline MaxValues load_values(const float* from) {
  MaxValues values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}
TY_AVX2 inline void store_values(const MaxValues& values, float* to) {
  __builtin_memcpy(to, &values, sizeof values);
}
TY_AVX2 inline MaxValues load_values(const BFloat16* from) {
  typedef std::uint16_t Halves __attribute__((vector_size(16)));
  Halves bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  return reinterpret_cast<MaxValues>(__builtin_convertvector(bits, MaxWords) << 16);
}
TY_AVX2 inline void store_values(const MaxValues& values, BFloat16* to) {
  float rounded[kMaxLanes];
  __builtin_memcpy(rounded, &values, sizeof rounded);
  for (int i = 0; i < kMaxLanes; ++i) to[i] = static_cast<BFloat16>(rounded[i]);
}

/// The taps of eight channels, each less than 256, as bytes of one number: those of even channels,
/// then those of odd ones, since this order takes a shift and a mask to unpack.
inline constexpr MaxWords kTapShifts{0, 0, 8, 8, 16, 16, 24, 24};

TY_AVX2 inline std::uint64_t pack_taps(const MaxWords& taps) {
  const MaxPairs pairs = reinterpret_cast<MaxPairs>(taps << kTapShifts);
  return pairs[0] | pairs[1] | pairs[2] | pairs[3];
}
TY_AVX2 inline MaxWords unpack_taps(std::uint64_t packed) {
  const MaxPairs pairs{packed, packed, packed, packed};
  return reinterpret_cast<MaxWords>(pairs) >> kTapShifts & 255;
}

/// The shapes and layouts of one pooling step whose windows have at most 256 pixels.
struct MaxPlanes : PoolAxes {
  Layout input, output;
  std::int64_t blocks;  // of an image

  [[nodiscard]] TY_HD std::int64_t offset(const Layout& layout, std::int64_t plane) const {
    return plane / blocks * layout.stride[0] + plane % blocks * layout.stride[1];
  }
  /// The offset of an input pixel in its plane.
  [[nodiscard]] TY_HD std::int64_t in_plane(std::int64_t ih, std::int64_t iw) const {
    return (ih * w.input + iw) * input.block;
  }
  /// The place of the taps of a row of the output.
  [[nodiscard]] TY_HD std::int64_t taps(std::int64_t plane, std::int64_t oh) const {
    return (plane * h.output + oh) * w.output * (input.block / kMaxLanes);
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
    const std::int64_t plane = row / maps.h.output, oh = row % maps.h.output;
    const PoolAxis::Span rows = maps.h.span(oh);
    const T* const in = x + maps.offset(maps.input, plane);
    T* out = y + maps.offset(maps.output, plane) + oh * maps.w.output * maps.output.block;
    std::uint64_t* kept = taps == nullptr ? nullptr : taps + maps.taps(plane, oh);
    for (std::int64_t ow = 0; ow < maps.w.output; ++ow) {
      const PoolAxis::Span columns = maps.w.span(ow);
      for (std::int64_t lane = 0; lane < maps.input.block; lane += kMaxLanes, out += kMaxLanes) {
        MaxWords taken;
        store_values(largest(in + lane, rows, columns, taken), out);
        if (kept != nullptr) *kept++ = pack_taps(taken);
      }
    }
  }

 private:
  TY_AVX2 MaxValues largest(const T* in, const PoolAxis::Span& rows, const PoolAxis::Span& columns,
                            MaxWords& taken) const {
    MaxValues best = load_values(in + maps.in_plane(rows.first, columns.first));
    taken = MaxWords{} + static_cast<std::uint32_t>((rows.first - rows.start) * maps.w.size +
                                                    columns.first - columns.start);
    const std::int64_t ahead = maps.in_plane(maps.h.stride, 0);  // the next row's windows
    each_tap<kSize>(maps, rows, columns, [&](int tap, std::int64_t h, std::int64_t w) TY_AVX2 {
      const T* const pixel = in + maps.in_plane(h, w);
      __builtin_prefetch(pixel + ahead);
      const MaxValues value = load_values(pixel);
      const auto wins = (best == best) & ~(value <= best);
      best = wins ? value : best;
      taken = wins ? MaxWords{} + static_cast<std::uint32_t>(tap) : taken;
    });
    return best;
  }
};

/// dx = sum of dy over the windows whose maximum is this pixel, in order. A row of the launch is a
/// plane.
template <int kSize>
struct MaxPoolGradient {
  MaxPlanes maps;
  const float* dy;
  const std::uint64_t* taps;
  float* dx;

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t plane) const {
    const float* in = dy + maps.offset(maps.output, plane);
    float* const out = dx + maps.offset(maps.input, plane);
    const std::uint64_t* kept = taps + maps.taps(plane, 0);
    std::int64_t cleared = 0;  // rows, each shortly before a window adds to it
    for (std::int64_t oh = 0; oh < maps.h.output; ++oh) {
      const PoolAxis::Span rows = maps.h.span(oh);
      clear(out, cleared, rows.last);
      for (std::int64_t ow = 0; ow < maps.w.output; ++ow) {
        const PoolAxis::Span columns = maps.w.span(ow);
        for (std::int64_t lane = 0; lane < maps.input.block; lane += kMaxLanes, in += kMaxLanes) {
          add(load_values(in), unpack_taps(*kept++), rows, columns, out + lane);
        }
      }
    }
    clear(out, cleared, maps.h.input);
  }

 private:
  TY_AVX2 void add(const MaxValues& gradient, const MaxWords& taken, const PoolAxis::Span& rows,
                   const PoolAxis::Span& columns, float* out) const {
    each_tap<kSize>(maps, rows, columns, [&](int tap, std::int64_t h, std::int64_t w) TY_AVX2 {
      float* const pixel = out + maps.in_plane(h, w);
      const MaxValues part = taken == static_cast<std::uint32_t>(tap) ? gradient : MaxValues{};
      store_values(load_values(pixel) + part, pixel);
    });
  }
  TY_AVX2 void clear(float* out, std::int64_t& cleared, std::int64_t end) const {
    for (; cleared < end; ++cleared) {
      float* const row = out + maps.in_plane(cleared, 0);
      for (std::int64_t i = 0; i < maps.w.input * maps.input.block; i += kMaxLanes) {
        store_values(MaxValues{}, row + i);
      }
    }
  }
};

/// The same for a type that a sum is rounded to once: for each pixel over the windows that cover
/// it. A row of the launch is one of the input.
template <class T>
struct MaxPoolRowGradient {
  MaxPlanes maps;
  const T* dy;
  const std::uint64_t* taps;
  T* dx;

  template <class Team>
  TY_AVX2 void operator()(const Team& /*team*/, std::int64_t row) const {
    const std::int64_t plane = row / maps.h.input, ih = row % maps.h.input;
    const Windows rows{maps.h.first_window(ih), maps.h.last_window(ih)};
    T* out = dx + maps.offset(maps.input, plane) + maps.in_plane(ih, 0);
    for (std::int64_t iw = 0; iw < maps.w.input; ++iw) {
      const Windows columns{maps.w.first_window(iw), maps.w.last_window(iw)};
      for (std::int64_t lane = 0; lane < maps.input.block; lane += kMaxLanes, out += kMaxLanes) {
        store_values(sum(plane, {ih, rows}, {iw, columns}, lane), out);
      }
    }
  }

 private:
  struct Windows {
    std::int64_t first, last;
  };
  /// A row or column, and the windows that cover it.
  struct Covered {
    std::int64_t pixel;
    Windows by;
  };

  TY_AVX2 MaxValues sum(std::int64_t plane, const Covered& row, const Covered& column,
                        std::int64_t lane) const {
    const std::int64_t strips = maps.input.block / kMaxLanes, strip = lane / kMaxLanes;
    const T* const in = dy + maps.offset(maps.output, plane) + lane;
    MaxValues total{};
    for (std::int64_t oh = row.by.first; oh < row.by.last; ++oh) {
      const std::uint64_t* const kept = taps + maps.taps(plane, oh) + strip;
      const std::int64_t first = (row.pixel + maps.h.before - oh * maps.h.stride) * maps.w.size;
      for (std::int64_t ow = column.by.first; ow < column.by.last; ++ow) {
        const std::int64_t tap = first + column.pixel + maps.w.before - ow * maps.w.stride;
        const MaxValues gradient = load_values(in + (oh * maps.w.output + ow) * maps.output.block);
        total += unpack_taps(kept[ow * strips]) == static_cast<std::uint32_t>(tap) ? gradient
                                                                                   : MaxValues{};
      }
    }
    return total;
  }
};

#undef TY_AVX2

}  // namespace trainyard::onednn
