// Convolutions by the loops of the reference device, in its order of sums: bit-identical.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convolution.h"

namespace standin::cudnn {

/// The rounding that an engine applies to f32 factors.
enum class Rounding { none, tf32, bf16 };

struct Addresses {
  void* input = nullptr;
  void* weight = nullptr;
  void* output = nullptr;
  void* bias = nullptr;  // if it is added
};

struct Manner {
  Rounding rounding = Rounding::none;
  std::int64_t first_image = 0;  // at which the sum of a weight gradient starts
  /// Memory for unfolded images, `images_at_a_time` matrices; null: in host memory.
  std::byte* unfolded = nullptr;
  std::int64_t images_at_a_time = 1;
};

/// Bytes of one unfolded image.
[[nodiscard]] std::int64_t unfolded_bytes(const Convolution& convolution);

/// Computes the whole. Sums start with the bias, as on the reference device.
void compute(const Convolution& convolution, const Manner& manner, const Addresses& addresses);

}  // namespace standin::cudnn
