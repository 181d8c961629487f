// Convolutions by the loops of the reference device, in its order of sums: the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convolution.h"

namespace standin::cudnn {

/// What an engine does to factors of f32.
enum class Rounding { none, tf32, bf16 };

struct Addresses {
  void* input = nullptr;
  void* weight = nullptr;
  void* output = nullptr;
  void* bias = nullptr;  // where it is added
};

struct Manner {
  Rounding rounding = Rounding::none;
  std::int64_t first_image = 0;  // at which the sum of a weight gradient begins
  /// Where images lie unfolded, `images_at_a_time` matrices; null: in memory of the host.
  std::byte* unfolded = nullptr;
  std::int64_t images_at_a_time = 1;
};

/// Bytes of one image that lies unfolded.
[[nodiscard]] std::int64_t unfolded_bytes(const Convolution& convolution);

/// Computes the whole. The bias is where the sums begin, as on the reference device.
void compute(const Convolution& convolution, const Manner& manner, const Addresses& addresses);

}  // namespace standin::cudnn
