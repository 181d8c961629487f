// The launches of an optimizer step on one launcher: compiled for the CPU and, by nvcc, for GPUs.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/step_tensors.h"
#include "optim/gradient.h"
#include "optim/gradient_sums.h"
#include "optim/update.h"
#include "optim/update_launches.h"

namespace trainyard {

// Rows of a batch, stored by the indices of its samples.

/// rows[index of sample n] = row n of a batch, for the valid samples. An element is one of
/// samples * width: launcher.each(samples * width, SampleRows<T>{...}).
template <class T>
struct SampleRows {
  const T* values;                   // [samples, width]
  const std::int64_t* sample_index;  // [samples], into the data set
  std::int64_t width;
  const StepState* state;
  float* rows;  // [size of the set, width]
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / width;
    if (n < state->valid) rows[sample_index[n] * width + i % width] = static_cast<float>(values[i]);
  }
};

template <class Launcher>
class UpdateLaunchesOn final : public UpdateLaunches {
 public:
  explicit UpdateLaunchesOn(const Launcher& launcher) : launcher_(launcher) {}

  void begin(const BeginUpdate& begin) const override { launcher_.each(1, begin); }
  void add_results(const ResultTable& results, double* totals) const override {
    launcher_.rows(results.columns(), ResultSums{results, totals});
  }
  void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                  float* rows) const override {
    with_arithmetic(results.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(results.samples * results.width,
                     SampleRows<T>{static_cast<const T*>(results.values), sample_index,
                                   results.width, results.state, rows});
    });
  }
  void judge(const JudgeMicroBatch& judge) const override { launcher_.each(1, judge); }
  void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                  bool first) const override {
    with_arithmetic(blocks.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(elements,
                     AddGradients<T>{static_cast<T*>(blocks.gradients),
                                     static_cast<const T*>(gradients), first, blocks.of_step});
    });
  }
  void downcast(void* to, DType type, const float* from, std::int64_t elements) const override {
    with_half(type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(elements, RoundToHalf<T>{static_cast<T*>(to), from});
    });
  }
  void upcast(float* to, const void* from, DType type, std::int64_t elements) const override {
    with_half(type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(elements, FromHalf<T>{to, static_cast<const T*>(from)});
    });
  }
  void finish_gradients(const UpdateBlocks& blocks, const GradientFinish& task) const override {
    trainyard::finish_gradients(launcher_, blocks, task);
  }
  void regularisation_loss(const UpdateBlocks& blocks, const SpanSums& sums,
                           double* loss) const override {
    trainyard::regularisation_loss(launcher_, blocks, sums, loss);
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule, double time_decay,
              const StatisticBlocks& statistics) const override {
    with_arithmetic(blocks.type, [&](auto zero) {
      run_update<decltype(zero)>(launcher_, blocks, rule, time_decay, statistics);
    });
  }
  void average(const AverageBlocks& blocks) const override {
    with_arithmetic(blocks.type,
                    [&](auto zero) { trainyard::average<decltype(zero)>(launcher_, blocks); });
  }
  void end(const EndUpdate& end) const override { launcher_.each(1, end); }

 private:
  Launcher launcher_;
};

}  // namespace trainyard
