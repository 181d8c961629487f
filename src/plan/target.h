// What a plan is made for, as data: a plan for a device exists without the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/layout.h"

namespace trainyard {

/// What a run computes in (`precision:`). fp32: all in float, products with full factors. tf32: as
/// fp32, but products may round their factors to TF32. bf16, fp16: activations and their gradients
/// are stored in 16 bits, everything else stays float. fp64: all in double (the reference device).
enum class Precision { fp32, tf32, bf16, fp16, fp64 };
[[nodiscard]] std::string_view name_of(Precision precision);
/// The type that activations and their gradients are stored in.
[[nodiscard]] DType storage_of(Precision precision);

struct Target {
  /// How feature maps [n, c, h, w] lie in memory. Features [n, c] are plain.
  enum class Maps { plain, blocked, channels_last };

  std::string name;            // "cpu", "reference", "cuda"
  DType storage = DType::f32;  // activations and their gradients
  bool tf32 = false;           // products of f32 may round their factors to TF32
  Maps maps = Maps::plain;
  std::int64_t channel_multiple = 1;  // block, or padding of channels_last
  bool maps_input = false;            // the network's input lies like a map too, else it is plain
  bool fuse =
      true;  // merge what fuse() knows into one step; write branches into their concatenation
  /// StepDescription::workspace_cap of every step.
  std::size_t workspace_cap = std::numeric_limits<std::size_t>::max();

  /// The type of parameters, their gradients, optimizer state, statistics and losses.
  [[nodiscard]] DType arithmetic() const { return arithmetic_of(storage); }
  /// The layout that a convolution's output has here.
  [[nodiscard]] Layout map_layout(const Shape& shape) const;
};

/// The CPU: nChw16c with AVX-512, nChw8c without.
[[nodiscard]] Target cpu_target(bool avx512);
/// The reference device: all tensors plain.
[[nodiscard]] Target reference_target(Precision precision);
/// A GPU through cuDNN: maps and input n, h, w, c, with the channels of a pixel padded to 16 bytes.
/// That is 8 channels of 16 bits or 4 of 32: cuDNN's tensor-core engines (bf16, fp16 and tf32) want
/// channel counts of that multiple, and in fp32 too every pixel begins where a vector of 4 floats
/// may be loaded. fp64 is no precision of this target (Error{bug}).
[[nodiscard]] Target cuda_target(Precision precision);

}  // namespace trainyard
