// The launches of an update on one launcher: compiled for the CPU and, by nvcc, for GPUs.
#pragma once

#include "optim/accumulate.h"
#include "optim/gradient.h"
#include "optim/update.h"
#include "optim/update_launches.h"

namespace trainyard {

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
