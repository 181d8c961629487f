// Everything between the gradients and the new weights, as launches on one device of any kind.
#pragma once

#include <cstdint>
#include <memory>

#include "optim/average.h"
#include "optim/blocks.h"
#include "optim/gradient.h"
#include "optim/gradient_sums.h"
#include "optim/result_sums.h"
#include "optim/rules.h"
#include "optim/step_functors.h"

namespace trainyard {

/// Rows of a batch.
struct SampleResults {
  const void* values = nullptr;  // [samples, width] of `type`
  DType type = DType::f32;
  std::int64_t samples = 0;
  std::int64_t width = 1;
  const StepState* state = nullptr;  // number of valid samples
};

/// Pointers refer to memory that the device's functors can access; scalars are fixed at launch, so
/// that a step can be captured. Nothing allocates or waits. Types are f32 or f64.
class UpdateLaunches {
 public:
  virtual ~UpdateLaunches() = default;
  virtual void begin(const BeginUpdate& begin) const = 0;
  /// Adds the sums of a batch's results to totals[results.columns()]; see ResultSums.
  virtual void add_results(const ResultTable& results, double* totals) const = 0;
  /// Stores the valid rows by the samples' indices, see SampleRows.
  virtual void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                          float* rows) const = 0;
  virtual void judge(const JudgeMicroBatch& judge) const = 0;
  /// blocks.gradients = gradients for the first micro-batch of a step, += for the others; with
  /// blocks.of_step of those that count alone.
  virtual void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                          bool first) const = 0;
  /// to[i] = from[i], rounded to `type` (f16 or bf16), and the reverse: see optim/gradient_sums.h.
  virtual void downcast(void* to, DType type, const float* from, std::int64_t elements) const = 0;
  virtual void upcast(float* to, const void* from, DType type, std::int64_t elements) const = 0;
  /// For these see optim/gradient.h.
  virtual void finish_gradients(const UpdateBlocks& blocks, const GradientFinish& task) const = 0;
  virtual void regularisation_loss(const UpdateBlocks& blocks, const SpanSums& sums,
                                   double* loss) const = 0;
  /// A step of a rule, and that of running statistics, of which there may be none.
  virtual void update(const UpdateBlocks& blocks, const UpdateRule& rule, double time_decay,
                      const StatisticBlocks& statistics) const = 0;
  virtual void average(const AverageBlocks& blocks) const = 0;
  virtual void end(const EndUpdate& end) const = 0;
};

[[nodiscard]] std::unique_ptr<UpdateLaunches> make_cpu_update_launches(int threads);

}  // namespace trainyard
