// The launches of an optimizer step on one launcher: compiled for the CPU and, by nvcc, for GPUs.
#pragma once

#include "ops/metric_sum.h"
#include "ops/sample_rows.h"
#include "optim/accumulate.h"
#include "optim/gradient.h"
#include "optim/transport.h"
#include "optim/update.h"
#include "optim/update_launches.h"

namespace trainyard {

template <class Launcher>
class UpdateLaunchesOn final : public UpdateLaunches {
 public:
  explicit UpdateLaunchesOn(const Launcher& launcher) : launcher_(launcher) {}

  void begin(const BeginUpdate& begin) const override { launcher_.each(1, begin); }
  void add_results(const SampleResults& results, double* totals) const override {
    with_arithmetic(results.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.rows(results.width, MetricSum<T>{static_cast<const T*>(results.values),
                                                 results.samples, results.width, results.state,
                                                 results.weights, totals, results.positions});
    });
  }
  void add_weights(const SampleResults& results, double* totals) const override {
    launcher_.rows(
        2, WeightSum{results.weights, results.samples, results.state, totals, results.positions});
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
  void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                  bool first) const override {
    with_arithmetic(blocks.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(elements, AddGradients<T>{static_cast<T*>(blocks.gradients),
                                               static_cast<const T*>(gradients), first});
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
  void unscale(const UpdateBlocks& blocks) const override { trainyard::unscale(launcher_, blocks); }
  void divide_by_weights(const UpdateBlocks& blocks, double samples,
                         const double* weights) const override {
    trainyard::divide_by_weights(launcher_, blocks, samples, weights);
  }
  void add_l2(const UpdateBlocks& blocks) const override { trainyard::add_l2(launcher_, blocks); }
  void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                     double* norm) const override {
    trainyard::gradient_norm(launcher_, blocks, scratch, norm);
  }
  void regularisation_loss(const UpdateBlocks& blocks, std::span<double> scratch,
                           double* sum) const override {
    trainyard::regularisation_loss(launcher_, blocks, scratch, sum);
  }
  void note_nonfinite(StepState* state, const double* value) const override {
    trainyard::note_nonfinite(launcher_, state, value);
  }
  void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                      double maximum) const override {
    trainyard::clip_gradients(launcher_, blocks, norm, maximum);
  }
  void update_running(const StatisticBlocks& statistics) const override {
    with_arithmetic(statistics.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.each(statistics.chunks,
                     UpdateRunning<T>{static_cast<T*>(statistics.running),
                                      static_cast<const T*>(statistics.batch), statistics.rules,
                                      statistics.state, statistics.replicas});
    });
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule,
              double time_decay) const override {
    with_arithmetic(blocks.type, [&](auto zero) {
      run_update<decltype(zero)>(launcher_, blocks, rule, time_decay);
    });
  }
  void average(const AverageBlocks& blocks) const override {
    with_arithmetic(blocks.type, [&](auto zero) {
      using T = decltype(zero);
      launcher_.rows(blocks.chunks, AverageChunk<T>{static_cast<T*>(blocks.average),
                                                    static_cast<const T*>(blocks.trained),
                                                    blocks.state, blocks.rule, blocks.restart});
    });
  }
  void end(const EndUpdate& end) const override { launcher_.each(1, end); }

 private:
  Launcher launcher_;
};

}  // namespace trainyard
