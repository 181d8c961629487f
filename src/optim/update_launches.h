// Everything between the gradients and the new weights, as launches on one device of any kind.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ops/running_statistics.h"
#include "optim/average.h"
#include "optim/blocks.h"
#include "optim/rules.h"
#include "optim/step_functors.h"

namespace trainyard {

/// Results of a batch.
struct SampleResults {
  const void* values = nullptr;  // [samples, width] of `type`
  DType type = DType::f32;
  std::int64_t samples = 0;  // samples, or all their positions
  std::int64_t width = 1;
  const StepState* state = nullptr;  // number of valid samples
  const float* weights = nullptr;    // [samples], of which 0 excludes a sample; null: none
  std::int64_t positions = 1;        // of a sample
};

/// Running statistics and those of a batch, flat.
struct StatisticBlocks {
  DType type = DType::f32;
  void* running = nullptr;
  const void* batch = nullptr;  // summed over ranks and micro-batches
  const StatisticRule* rules = nullptr;
  const StepState* state = nullptr;
  double replicas = 1;
  std::int64_t chunks = 0;
};

/// Pointers refer to memory that the device's functors can access; scalars are fixed at launch, so
/// that a step can be captured. Nothing allocates or waits. Types are f32 or f64.
class UpdateLaunches {
 public:
  virtual ~UpdateLaunches() = default;
  virtual void begin(const BeginUpdate& begin) const = 0;
  /// Adds the sums over the valid samples to totals[width].
  virtual void add_results(const SampleResults& results, double* totals) const = 0;
  /// Adds the sum of results.weights and the number of those that are not 0 to totals[2].
  virtual void add_weights(const SampleResults& results, double* totals) const = 0;
  /// Stores the valid rows by the samples' indices, see SampleRows.
  virtual void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                          float* rows) const = 0;
  /// blocks.gradients = gradients for the first micro-batch of a step, += for the others.
  virtual void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                          bool first) const = 0;
  /// to[i] = from[i], rounded to `type` (f16 or bf16), and the reverse: see optim/transport.h.
  virtual void downcast(void* to, DType type, const float* from, std::int64_t elements) const = 0;
  virtual void upcast(float* to, const void* from, DType type, std::int64_t elements) const = 0;
  virtual void unscale(const UpdateBlocks& blocks) const = 0;
  /// gradients *= samples / *weights; see DivideByWeights.
  virtual void divide_by_weights(const UpdateBlocks& blocks, double samples,
                                 const double* weights) const = 0;
  virtual void add_l2(const UpdateBlocks& blocks) const = 0;
  /// For these see optim/gradient.h.
  virtual void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                             double* norm) const = 0;
  virtual void regularisation_loss(const UpdateBlocks& blocks, std::span<double> scratch,
                                   double* sum) const = 0;
  virtual void note_nonfinite(StepState* state, const double* value) const = 0;
  virtual void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                              double maximum) const = 0;
  virtual void update_running(const StatisticBlocks& statistics) const = 0;
  virtual void update(const UpdateBlocks& blocks, const UpdateRule& rule,
                      double time_decay) const = 0;
  virtual void average(const AverageBlocks& blocks) const = 0;
  virtual void end(const EndUpdate& end) const = 0;
};

[[nodiscard]] std::unique_ptr<UpdateLaunches> make_cpu_update_launches(int threads);

}  // namespace trainyard
