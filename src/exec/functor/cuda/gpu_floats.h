// The types that activations are stored in on GPUs.
#pragma once

#include <type_traits>

#include "base/error.h"
#include "tensor/dtype.h"

namespace trainyard::cuda {

/// f(std::type_identity<T>{}) for the type T that `type` names: float, BFloat16 or Float16.
struct GpuFloat {
  template <class F>
  decltype(auto) operator()(DType type, const F& f) const {
    switch (type) {
      case DType::bf16:
        return f(std::type_identity<BFloat16>{});
      case DType::f16:
        return f(std::type_identity<Float16>{});
      default:
        TY_CHECK(type == DType::f32, name_of(type));
        return f(std::type_identity<float>{});
    }
  }
};

}  // namespace trainyard::cuda
