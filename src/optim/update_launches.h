// Everything between the gradients and the new weights as launches on one device, whatever the
// device: `run` hands them to the step that is captured or walked.
#pragma once

#include <cstdint>
#include <span>

#include "ops/metric_sum.h"
#include "ops/running_statistics.h"
#include "optim/blocks.h"
#include "optim/rules.h"

namespace trainyard {

/// Pointers lie where the device's functors read and write; scalars are those of the launch for
/// ever. Nothing allocates or waits.
class UpdateLaunches {
 public:
  virtual ~UpdateLaunches() = default;
  /// sum = gradients in the first micro-step of an update, sum += gradients in the others.
  virtual void accumulate(float* sum, const float* gradients, std::int64_t elements,
                          bool first) const = 0;
  virtual void add_l2(const UpdateBlocks& blocks) const = 0;
  /// See gradient_norm() of optim/gradient.h.
  virtual void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                             double* norm) const = 0;
  virtual void note_nonfinite(StepState* state, const double* value) const = 0;
  virtual void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                              double maximum) const = 0;
  /// Of `chunks` chunks of statistics.
  virtual void update_running(const UpdateRunning<float>& update, std::int64_t chunks) const = 0;
  virtual void update(const UpdateBlocks& blocks, const UpdateRule& rule,
                      double time_decay) const = 0;
  /// Adds the valid samples' results to a total.
  virtual void add_metric(const MetricSum<float>& sum) const = 0;
};

}  // namespace trainyard
