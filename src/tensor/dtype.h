// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "base/half.h"

namespace trainyard {

enum class DType : std::uint8_t { f32, f64, f16, bf16, i32, u8 };

/// Bytes of one element.
constexpr std::size_t size_of(DType type) {
  constexpr std::size_t kBytes[] = {4, 8, 2, 2, 4, 1};
  return kBytes[static_cast<std::size_t>(type)];
}

/// The type used to compute with values stored as `type`, and the type of the corresponding
/// parameters, gradients, statistics and losses: f64 for f64, else f32.
constexpr DType arithmetic_of(DType type) { return type == DType::f64 ? type : DType::f32; }

/// "f32", as in dumps and error messages.
constexpr std::string_view name_of(DType type) {
  constexpr std::string_view kNames[] = {"f32", "f64", "f16", "bf16", "i32", "u8"};
  return kNames[static_cast<std::size_t>(type)];
}

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> : std::integral_constant<DType, DType::f32> {};
template <>
struct DTypeOf<double> : std::integral_constant<DType, DType::f64> {};
template <>
struct DTypeOf<Float16> : std::integral_constant<DType, DType::f16> {};
template <>
struct DTypeOf<BFloat16> : std::integral_constant<DType, DType::bf16> {};
template <>
struct DTypeOf<std::int32_t> : std::integral_constant<DType, DType::i32> {};
template <>
struct DTypeOf<std::uint8_t> : std::integral_constant<DType, DType::u8> {};

/// Calls f(std::type_identity<T>{}) for the one of the float types T that a DType names. Any other
/// DType is our bug.
template <class First, class... Rest>
struct FloatTypes {
  [[nodiscard]] static constexpr bool contain(DType type) {
    return type == DTypeOf<First>::value || ((type == DTypeOf<Rest>::value) || ...);
  }
  template <class F>
  decltype(auto) operator()(DType type, const F& f) const {
    if constexpr (sizeof...(Rest) == 0) {
      TY_CHECK(type == DTypeOf<First>::value, name_of(type));
      return f(std::type_identity<First>{});
    } else {
      if (type == DTypeOf<First>::value) return f(std::type_identity<First>{});
      return FloatTypes<Rest...>{}(type, f);
    }
  }
};

using AllFloats = FloatTypes<float, BFloat16, Float16, double>;
/// Types of stored activations on GPUs: no kernel is compiled for double there.
using GpuFloats = FloatTypes<float, BFloat16, Float16>;
/// Types that the CPU stores, and those that only the reference device stores.
using CpuFloats = FloatTypes<float, BFloat16>;
using ReferenceFloats = FloatTypes<Float16, double>;

/// AllFloats, as a function.
template <class F>
decltype(auto) with_float_type(DType type, const F& f) {
  return AllFloats{}(type, f);
}

}  // namespace trainyard
