// Everything between the gradients and the new weights as launches on one device, whatever the
// device: `run` hands them to the step that is captured or walked.
#pragma once

#include <cstdint>
#include <span>

#include "ops/metric_sum.h"
#include "ops/running_statistics.h"
#include "optim/accumulate.h"
#include "optim/blocks.h"
#include "optim/gradient.h"
#include "optim/update.h"

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

/// The launches on a launcher, in float.
template <class Launcher>
class UpdateLaunchesOn final : public UpdateLaunches {
 public:
  explicit UpdateLaunchesOn(const Launcher& launcher) : launcher_(launcher) {}

  void accumulate(float* sum, const float* gradients, std::int64_t elements,
                  bool first) const override {
    launcher_.each(elements, AddGradients<float>{sum, gradients, first});
  }
  void add_l2(const UpdateBlocks& blocks) const override { trainyard::add_l2(launcher_, blocks); }
  void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                     double* norm) const override {
    trainyard::gradient_norm(launcher_, blocks, scratch, norm);
  }
  void note_nonfinite(StepState* state, const double* value) const override {
    trainyard::note_nonfinite(launcher_, state, value);
  }
  void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                      double maximum) const override {
    trainyard::clip_gradients(launcher_, blocks, norm, maximum);
  }
  void update_running(const UpdateRunning<float>& update, std::int64_t chunks) const override {
    launcher_.each(chunks, update);
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule,
              double time_decay) const override {
    run_update<float>(launcher_, blocks, rule, time_decay);
  }
  void add_metric(const MetricSum<float>& sum) const override { launcher_.rows(1, sum); }

 private:
  Launcher launcher_;
};

}  // namespace trainyard
