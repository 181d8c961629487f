// The memory that an optimizer step works on.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/host_device.h"
#include "ops/step_tensors.h"
#include "optim/chunk_spans.h"
#include "optim/gradient_sums.h"
#include "optim/packed_form.h"
#include "optim/running_statistics.h"
#include "optim/step_functors.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Per-parameter data of the optimizer step.
struct Segment {
  double rate_multiplier = 1;
  double l2 = 0;     // Keras's l2 coefficient: gradient += 2 * l2 * w
  double decay = 0;  // weight decay that is added to the gradient or direction
  std::int32_t frozen = 0;
  std::int32_t adapted = 0;     // the rate is multiplied by the rule's trust ratio, if it has one
  double decoupled_decay = 0;   // weight decay as a factor on the weight: 1 - lr * decay
  std::int64_t first_step = 0;  // trained in the steps [first_step, end_step) of the span
  std::int64_t end_step = kNever;
  std::int32_t unwritten = 0;  // trained, but no pass writes its gradient, which is 0
  std::int64_t rows = 1;       // its first axis

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] TY_HD bool trains(std::int64_t step) const {
    return frozen == 0 && step >= first_step && step < end_step;
  }
};

/// A bound of the gradients' norm.
struct GradientClip {
  const double* norm = nullptr;  // the norm of the step's gradients
  double maximum = 0;            // 0: no bound
};

/// The 2-norms of a segment's weights and of what the gradient block has for it; of a span, their
/// squares.
struct Norms {
  double weights = 0;
  double gradients = 0;
};

/// On the device; nothing for a rule that needs no norms.
struct NormBlocks {
  const SegmentSpans* segments = nullptr;  // segments of the rule, of UpdateBlocks::spans
  std::int64_t segment_count = 0;
  Norms* partials = nullptr;  // indexed by span
  Norms* norms = nullptr;     // indexed by segment, of all segments
};

struct MatrixBatch;  // newton_schulz.h

/// The blocks of one step. All arrays have arithmetic type `type` and hold whole chunks.
struct UpdateBlocks {
  DType type = DType::f32;
  void* weights = nullptr;
  void* gradients = nullptr;  // mean over the global batch; a rule's direction takes its place
  std::vector<void*> slots;   // optimizer state, in the order of slots()
  const Segment* segments = nullptr;
  const ChunkSpan* spans = nullptr;  // spans of a rule, or all
  std::int64_t span_count = 0;
  std::int64_t chunks = 0;                // chunks of all these spans
  const StepState* state = nullptr;       // has lr; a withheld step changes no weights
  const MicroBatches* of_step = nullptr;  // the step's, of which some may not count; null: all do
  GradientClip clip;                      // a rule reads its gradients clipped
  double* running_number = nullptr;       // number of a rule that has one, see rules.h
  NormBlocks norms;
  std::span<const MatrixBatch> matrices;  // of a rule of matrices: all its parameters
  PackedTable packed;                     // which a rule writes besides the weights
  std::uint32_t* finished = nullptr;  // see finished_rows(); null: the rule does not end the step
  EndUpdate end;
};

/// Running statistics and those of a batch, flat.
struct StatisticBlocks {
  void* running = nullptr;      // elements have the type of the weights
  const void* batch = nullptr;  // summed over ranks and micro-batches
  const StatisticPolicy* rules = nullptr;
  const StepState* state = nullptr;
  const double* replicas = nullptr;  // replicas whose statistics are summed
  std::int64_t chunks = 0;
};

}  // namespace trainyard
