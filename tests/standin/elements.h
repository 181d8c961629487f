// Elements for the stand-ins of cuDNN and cuBLASLt: loaded as floats, stored rounded.
#pragma once

#include <bit>
#include <cstdint>

#include "base/half.h"
#include "tensor/dtype.h"

namespace standin {

/// f of `memory` as elements of f32, f16 or bf16.
template <class F>
void with_elements(trainyard::DType type, void* memory, const F& f) {
  if (type == trainyard::DType::f16) {
    f(static_cast<trainyard::Float16*>(memory));
  } else if (type == trainyard::DType::bf16) {
    f(static_cast<trainyard::BFloat16*>(memory));
  } else {
    f(static_cast<float*>(memory));
  }
}

/// To the 10 bits of mantissa of TF32, to nearest, ties to even.
inline float rounded_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// Runs a functor of the reference device row by row: on the device's one thread, and without a
/// launcher, whose code would come from the program.
template <class F>
void for_rows(std::int64_t rows, const F& functor) {
  const F f = functor;  // so that the compiler knows that no store changes its members
  for (std::int64_t row = 0; row < rows; ++row) f(0, row);
}

}  // namespace standin
