// The two 16-bit floats, for storage: values are converted to float for arithmetic and rounded once
// when stored.
//
// The conversions are built from integer operations, selects and one IEEE addition or product, so
// that loops over them vectorise and every device gives the same bits. Rounding is to nearest, ties
// to even; overflow gives infinity; every NaN becomes the one NaN 0x7fff (as in the conversions of
// NVIDIA GPUs).
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "base/math.h"

namespace trainyard {

/// IEEE 754 binary16: 11 significant bits, largest 65504, subnormals down to 2^-24.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  TY_HD explicit Float16(float value) {
    const std::uint32_t all = math::bits_of(value);
    const std::uint32_t size = all & 0x7fffffffu;
    // Normal results: the exponent moved by 15 - 127, the mantissa cut to 10 bits. A rounding carry
    // runs into the exponent, up to infinity from the largest number.
    const std::uint32_t odd = (size >> 13) & 1u;
    const std::uint32_t normal = (size - (112u << 23) + 0xfffu + odd) >> 13;
    // Subnormal results: 0.5 has the spacing 2^-24, so that the sum rounds to the right bits.
    const std::uint32_t small = math::bits_of(math::float_of(size) + 0.5f) - 0x3f000000u;
    const std::uint32_t finite = size < 0x38800000u ? small : normal;  // below 2^-14
    const std::uint32_t large = size > 0x7f800000u ? 0x7fffu : 0x7c00u;
    const std::uint32_t magnitude = size >= 0x47800000u ? large : finite;  // from 65536 on
    const std::uint32_t sign = size > 0x7f800000u ? 0u : (all >> 16) & 0x8000u;
    bits = static_cast<std::uint16_t>(sign | magnitude);
  }
  explicit Float16(double) = delete;  // would round twice

  TY_HD operator float() const {
    const std::uint32_t size = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;
    // The product corrects the exponent's bias, subnormals included; it is exact.
    const std::uint32_t finite = math::bits_of(math::float_of(size) * 0x1p112f);
    const std::uint32_t value = size >= 0x0f800000u ? size | 0x7f800000u : finite;
    return math::float_of(value | (static_cast<std::uint32_t>(bits & 0x8000u) << 16));
  }
};

/// The upper half of a float: 8 significant bits, the range of float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  TY_HD explicit BFloat16(float value) {
    const std::uint32_t all = math::bits_of(value);
    const std::uint32_t rounded = (all + 0x7fffu + ((all >> 16) & 1u)) >> 16;
    bits = static_cast<std::uint16_t>(value != value ? 0x7fffu : rounded);
  }
  explicit BFloat16(double) = delete;  // would round twice

  TY_HD operator float() const { return math::float_of(static_cast<std::uint32_t>(bits) << 16); }
};

/// The type used to compute with values stored as T: float for the 16-bit types, else T itself.
template <class T>
struct ArithmeticOf {
  using Type = T;
};
template <>
struct ArithmeticOf<Float16> {
  using Type = float;
};
template <>
struct ArithmeticOf<BFloat16> {
  using Type = float;
};
template <class T>
using Arithmetic = typename ArithmeticOf<T>::Type;

}  // namespace trainyard
