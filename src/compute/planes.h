// What the functors of pooling over channel blocks share: vectors of eight channels, and planes.
//
// A plane is one block of channels of one image, [h, w, block] without gaps. Functions over vectors
// are compiled for AVX2, which every supported processor has: GCC lowers vectors before it inlines
// a functor into the launcher's code for a processor.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"
#include "compute/pool/pool.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

#define TY_AVX2 __attribute__((target("avx2")))

inline constexpr std::int64_t kVectorLanes = 8;

typedef float FloatVector __attribute__((vector_size(32)));
typedef std::uint32_t WordVector __attribute__((vector_size(32)));

TY_AVX2 inline FloatVector load_values(const float* from) {
  FloatVector values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}
TY_AVX2 inline void store_values(const FloatVector& values, float* to) {
  __builtin_memcpy(to, &values, sizeof values);
}
// Intrinsics, because the conversions between 16 and 32 bits that GCC 12 makes go through memory.
TY_AVX2 inline FloatVector load_values(const BFloat16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<FloatVector>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
/// Rounds as BFloat16's constructor does.
TY_AVX2 inline void store_values(const FloatVector& values, BFloat16* to) {
  const WordVector all = reinterpret_cast<WordVector>(values);
  const WordVector rounded = (all + 0x7fff + (all >> 16 & 1)) >> 16;
  const WordVector not_nan = values == values;
  const WordVector bits = not_nan ? rounded : WordVector{} + 0x7fff;
  const __m256i pairs = reinterpret_cast<__m256i>(bits);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(pairs, pairs), 0b1000);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(packed));
}

/// The first `count` channels alone, if there are less than eight; the others are read as 0.
template <class T>
TY_AVX2 inline FloatVector load_channels(const T* from, std::int64_t count) {
  if (count >= kVectorLanes) return load_values(from);
  FloatVector values{};
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(from[i]);
  return values;
}
template <class T>
TY_AVX2 inline void store_channels(const FloatVector& values, T* to, std::int64_t count) {
  if (count >= kVectorLanes) return store_values(values, to);
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(values[i]);
}

/// The shapes and layouts of one pooling step. The input is in blocks of channels; so is the
/// output, unless it has one pixel: features are plain, [n, c], and end with the channels.
struct PoolPlanes : PoolAxes {
  Layout input, output;
  std::int64_t blocks;  // blocks of an image

  [[nodiscard]] TY_HD std::int64_t planes() const { return input.extent[0] * blocks; }
  [[nodiscard]] TY_HD std::int64_t offset(const Layout& layout, std::int64_t plane) const {
    return layout.offset(plane / blocks, plane % blocks * input.block, 0, 0);
  }
  /// The offset of an input pixel in its plane.
  [[nodiscard]] TY_HD std::int64_t in_plane(std::int64_t ih, std::int64_t iw) const {
    return (ih * w.input + iw) * input.block;
  }
  /// The offset of an output pixel in its plane.
  [[nodiscard]] TY_HD std::int64_t in_output(std::int64_t oh, std::int64_t ow) const {
    return (oh * w.output + ow) * input.block;
  }
  /// Prefetches what a window of the next row reads and the one above it does not, whose first
  /// pixel is at `in`. Without this, means of 2x2 over 32x32 pixels took three times as long.
  template <class T>
  TY_AVX2 void prefetch(const T* in) const {
    for (std::int64_t row = 0; row < h.stride; ++row) {
      for (std::int64_t column = 0; column < w.stride; ++column) {
        __builtin_prefetch(in + in_plane(row, column));
      }
    }
  }
  /// Channels of a plane that the output has.
  [[nodiscard]] TY_HD std::int64_t output_channels(std::int64_t plane) const {
    const std::int64_t rest = output.padded_channels - plane % blocks * input.block;
    return rest < input.block ? rest : input.block;
  }
  /// Row `row` of all planes' output rows: row h of its plane, which has these channels in the
  /// output, the input rows under its windows, and the offsets of the plane and of the row.
  struct OutputRow {
    std::int64_t plane, h, channels;
    PoolAxis::Span rows;
    std::int64_t in, out;
  };
  [[nodiscard]] TY_HD OutputRow output_row(std::int64_t row) const {
    const std::int64_t plane = row / h.output, oh = row % h.output;
    return {plane,
            oh,
            output_channels(plane),
            h.span(oh),
            offset(input, plane),
            offset(output, plane) + in_output(oh, 0)};
  }
};

/// Planes of floats that threads have for themselves.
struct ThreadPlanes {
  float* memory;  // [threads, floats]
  std::int64_t floats, threads;

  /// Calls f(plane, memory of the thread) for the thread's share of `planes` planes.
  template <class F>
  TY_AVX2 void each(std::int64_t thread, std::int64_t planes, const F& f) const {
    const std::int64_t end = planes * (thread + 1) / threads;
    for (std::int64_t plane = planes * thread / threads; plane < end; ++plane) {
      f(plane, memory + thread * floats);
    }
  }
};

}  // namespace trainyard::onednn
