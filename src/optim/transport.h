// Conversion of gradients to and from a 16-bit gradient dtype for the all-reduce.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"
#include "tensor/dtype.h"

namespace trainyard {

/// to = from, rounded once.
template <class T>
struct RoundToHalf {
  T* to;
  const float* from;

  TY_HD void operator()(std::int64_t i) const { to[i] = T(from[i]); }
};

/// to = from.
template <class T>
struct FromHalf {
  float* to;
  const T* from;

  TY_HD void operator()(std::int64_t i) const { to[i] = static_cast<float>(from[i]); }
};

/// Calls f with a zero of a 16-bit type: bf16 or f16.
template <class F>
void with_half(DType type, const F& f) {
  type == DType::bf16 ? f(BFloat16{}) : f(Float16{});
}

}  // namespace trainyard
