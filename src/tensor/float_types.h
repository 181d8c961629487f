// From a run-time DType to the C++ type of its elements.
#pragma once

#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace trainyard {

/// f(std::type_identity<T>{}) for the float type T that `type` names. An integer type is a bug.
template <class F>
decltype(auto) with_float_type(DType type, const F& f) {
  switch (type) {
    case DType::f64:
      return f(std::type_identity<double>{});
    case DType::bf16:
      return f(std::type_identity<BFloat16>{});
    case DType::f16:
      return f(std::type_identity<Float16>{});
    default:
      TY_CHECK(type == DType::f32, name_of(type));
      return f(std::type_identity<float>{});
  }
}

}  // namespace trainyard
