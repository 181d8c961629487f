// What a plan is made for, as data: planning for a device does not need the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "ops/step_form.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"

namespace trainyard {

/// The precision of a run (`precision:`). fp32: everything in float, products of unrounded factors.
/// tf32: as fp32, but products may round their factors to TF32. bf16, fp16: activations and their
/// gradients are stored in 16 bits, everything else stays float. fp64: everything in double (the
/// reference device).
enum class Precision { fp32, tf32, bf16, fp16, fp64 };
[[nodiscard]] std::string_view name_of(Precision precision);
/// The type that activations and their gradients are stored in.
[[nodiscard]] DType storage_of(Precision precision);

/// Fusions that change the graph alone, whatever the executors.
inline constexpr Cans kEveryTargetCan{Can::fuse, Can::write_slices, Can::cancel_biases};

struct Target {
  /// The layout of feature maps [n, c, h, w]. Features [n, c] are plain.
  enum class Maps { plain, blocked, channels_last };

  std::string name;            // "cpu", "reference", "cuda"
  DType storage = DType::f32;  // activations and their gradients
  bool tf32 = false;           // products of f32 may round their factors to TF32
  Maps maps = Maps::plain;
  std::int64_t channel_multiple = 1;   // block, or padding of channels_last
  bool maps_input = false;             // the network's input has the layout of maps too, else it is
                                       // plain
  bool packs_weights = false;          // executors read and write packed weights
                                       // (compute/weight_shape.h)
  Cans can = kEveryTargetCan;          // fusions that its executors do
  std::size_t most_on_side_queue = 2;  // steps at once: what they read lives until they are done
  /// StepDescription::workspace_cap of every step.
  std::size_t workspace_cap = std::numeric_limits<std::size_t>::max();

  /// The type of parameters, their gradients, optimizer state, statistics and losses.
  [[nodiscard]] DType arithmetic() const { return arithmetic_of(storage); }
  /// The layout of a convolution's output on this target.
  [[nodiscard]] Layout map_layout(const Shape& shape) const;
};

/// The CPU: nChw16c with AVX-512, nChw8c without.
[[nodiscard]] Target cpu_target(bool avx512, Precision precision = Precision::fp32);
/// The reference device: all tensors plain.
[[nodiscard]] Target reference_target(Precision precision);
/// A GPU through cuDNN: maps and input n, h, w, c, with the channels of a pixel padded to 16 bytes.
/// These are 8 channels of 16 bits or 4 of 32: cuDNN's tensor-core engines (bf16, fp16 and tf32)
/// require channel counts that are such multiples, and in fp32 too every pixel is aligned for
/// vector loads of 4 floats. This target has no fp64 (Error{bug}).
[[nodiscard]] Target cuda_target(Precision precision);

}  // namespace trainyard
