// Optimizers: the update of the flat parameter block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "kernels/chunk.h"
#include "kernels/launch.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// What the update needs to know of one parameter.
struct Segment {
  double rate_multiplier = 1;
  double l2 = 0;     // Keras's l2 coefficient: gradient += 2 * l2 * w
  double decay = 0;  // weight decay of the parameter's group (already 0 where it has none)
  std::int32_t frozen = 0;
};

/// The blocks of one update. All arrays of arithmetic type `type` and chunks * kChunk elements.
struct UpdateBlocks {
  DType type = DType::f32;
  void* weights = nullptr;
  void* gradients = nullptr;  // mean over the global batch
  std::vector<void*> slots;   // optimizer state, in the order of slots()
  const Segment* segments = nullptr;
  const std::int32_t* segment_of_chunk = nullptr;
  std::int64_t chunks = 0;
  const StepState* state = nullptr;  // rate of this step; a non-finite step freezes updates
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// "sgd".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Base learning rate; the schedule starts from it.
  [[nodiscard]] virtual double rate() const = 0;
  /// Weight decay of a parameter group.
  [[nodiscard]] virtual double decay(ParameterGroup group) const = 0;
  /// Names of the state blocks ("momentum").
  [[nodiscard]] virtual std::vector<std::string> slots() const = 0;
  /// One update of all chunks.
  virtual void update(const CpuLauncher& launcher, const UpdateBlocks& blocks) const = 0;
};

[[nodiscard]] std::span<const config::Kind<Optimizer>> optimizer_kinds();

}  // namespace trainyard
