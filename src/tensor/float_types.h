// From a run-time DType to the C++ type of its elements.
#pragma once

#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace trainyard {

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
/// Those that activations are stored in on GPUs: no kernel is compiled for double there.
using GpuFloats = FloatTypes<float, BFloat16, Float16>;
/// Those that the CPU stores, and those that the reference device stores besides.
using CpuFloats = FloatTypes<float, BFloat16>;
using ReferenceFloats = FloatTypes<Float16, double>;

/// AllFloats, as a function.
template <class F>
decltype(auto) with_float_type(DType type, const F& f) {
  return AllFloats{}(type, f);
}

}  // namespace trainyard
