// What a plan is made for, as data: a plan for a device exists without the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tensor/dtype.h"
#include "tensor/layout.h"

namespace trainyard {

struct Target {
  /// How feature maps [n, c, h, w] lie in memory. Features [n, c] and the network's input are
  /// plain.
  enum class Maps { plain, blocked, channels_last };

  std::string name;         // "cpu", "reference"
  DType type = DType::f32;  // activations, gradients and parameters
  Maps maps = Maps::plain;
  std::int64_t channel_multiple = 1;  // block, or padding of channels_last
  bool fuse = true;                   // merge bn + relu and add + relu into one step

  /// The layout that a convolution's output has here.
  [[nodiscard]] Layout map_layout(const Shape& shape) const;
};

/// The CPU: nChw16c with AVX-512, nChw8c without.
[[nodiscard]] Target cpu_target(bool avx512);
/// The reference device, in f32 or f64, all tensors plain.
[[nodiscard]] Target reference_target(DType type);

}  // namespace trainyard
