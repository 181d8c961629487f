// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/half.h"

namespace trainyard {

enum class DType : std::uint8_t { f32, f64, f16, bf16, i32, u8 };

/// Bytes of one element.
constexpr std::size_t size_of(DType type) {
  switch (type) {
    case DType::f64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::u8:
      return 1;
  }
  return 0;
}

/// The type used to compute with values stored as `type`, and the type of the corresponding
/// parameters, gradients, statistics and losses: f64 for f64, else f32.
constexpr DType arithmetic_of(DType type) { return type == DType::f64 ? type : DType::f32; }

/// "f32", as in dumps and error messages.
std::string_view name_of(DType type);

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::u8;
};

}  // namespace trainyard
