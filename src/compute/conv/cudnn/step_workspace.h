// The workspace of a step that uses a library.
#pragma once

#include <cstddef>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "compute/conv/conv_step.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/executor.h"

namespace trainyard::cudnn {

/// Offsets in the workspace of one step: first those that the step itself needs, whatever their
/// size, then the library's, within the rest of the cap.
class StepWorkspace {
 public:
  /// `cap`: maximum bytes of step and library together.
  explicit StepWorkspace(std::size_t cap) : cap_(cap) {}

  /// Offset of `bytes` that the step requires. All calls come before take_for_library().
  std::size_t take(std::size_t bytes) { return allocator_.take(bytes); }
  /// Bytes that the library may take: 0 if the step's own needs fill the cap.
  [[nodiscard]] std::size_t left() const {
    return allocator_.used() < cap_ ? (cap_ - allocator_.used()) / kSlotAlignment * kSlotAlignment
                                    : 0;
  }
  /// Offset of `bytes` within left().
  std::size_t take_for_library(std::size_t bytes) {
    TY_CHECK(bytes <= left(), "a library keeps to the workspace that it was offered");
    return allocator_.take(bytes);
  }
  [[nodiscard]] std::size_t used() const { return allocator_.used(); }

 private:
  std::size_t cap_;
  OffsetAllocator allocator_;
};

/// The slots in a convolution step's workspace that precede the engine's: an engine may take at
/// most workspace.left().
struct ConvOffsets {
  StepWorkspace workspace;
  std::size_t partials = 0;  // room for the sums of the bias's gradient
};

/// `cap`: the maximum bytes of step and engine together.
[[nodiscard]] inline ConvOffsets conv_offsets(const StepDescription& step, std::size_t cap) {
  ConvOffsets offsets{.workspace = StepWorkspace(cap)};
  if (!conv_step(step).sums_bias()) return offsets;
  offsets.partials = offsets.workspace.take(bias_partial_bytes(ChannelRows(step.outputs[0])));
  return offsets;
}

}  // namespace trainyard::cudnn
