// The memory that an optimizer step works on.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/step_tensors.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Per-parameter data of the optimizer step.
struct Segment {
  double rate_multiplier = 1;
  double l2 = 0;     // Keras's l2 coefficient: gradient += 2 * l2 * w
  double decay = 0;  // weight decay of the parameter's group (0 if it has none)
  std::int32_t frozen = 0;
};

/// The blocks of one step. All arrays have arithmetic type `type` and chunks * kChunk elements.
struct UpdateBlocks {
  DType type = DType::f32;
  void* weights = nullptr;
  void* gradients = nullptr;  // mean over the global batch
  std::vector<void*> slots;   // optimizer state, in the order of slots()
  const Segment* segments = nullptr;
  const std::int32_t* segment_of_chunk = nullptr;
  std::int64_t chunks = 0;
  const StepState* state = nullptr;  // has lr; a non-finite step changes no weights
};

}  // namespace trainyard
