#include "wrapped_compute.h"

#include <utility>

namespace trainyard::test {
namespace {

class WrappedExecutor final : public Executor {
 public:
  WrappedExecutor(Around& around, std::unique_ptr<Executor> executor)
      : around_(around), executor_(std::move(executor)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override { executor_->bind(tensors); }
  void run() override {
    around_.run([this] { executor_->run(); });
  }

 private:
  Around& around_;
  std::unique_ptr<Executor> executor_;
};

class WrappedExecutors final : public ExecutorFactory {
 public:
  WrappedExecutors(Around& around, const ExecutorFactory& executors)
      : around_(around), executors_(executors) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    return wrapped(executors_.make(step));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return wrapped(executors_.make_reorder(from, from_type, to, to_type, threads));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return wrapped(executors_.make_accumulate(layout, type, threads));
  }
  [[nodiscard]] std::string libraries() const override { return executors_.libraries(); }

 private:
  [[nodiscard]] std::unique_ptr<Executor> wrapped(std::unique_ptr<Executor> executor) const {
    return std::make_unique<WrappedExecutor>(around_, std::move(executor));
  }
  Around& around_;
  const ExecutorFactory& executors_;
};

/// The arguments of a launch are copied: the work may run later.
class WrappedLaunches final : public UpdateLaunches {
 public:
  explicit WrappedLaunches(Around& around) : around_(around) {}
  void begin(const BeginUpdate& begin) const override {
    around_.run([this, begin] { cpu_->begin(begin); });
  }
  void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                  float* rows) const override {
    around_.run(
        [this, results, sample_index, rows] { cpu_->store_rows(results, sample_index, rows); });
  }
  void add_results(const SampleResults& results, double* total) const override {
    around_.run([this, results, total] { cpu_->add_results(results, total); });
  }
  void add_weights(const SampleResults& results, double* totals) const override {
    around_.run([this, results, totals] { cpu_->add_weights(results, totals); });
  }
  void divide_by_weights(const UpdateBlocks& blocks, double samples,
                         const double* weights) const override {
    around_.run([=, this] { cpu_->divide_by_weights(blocks, samples, weights); });
  }
  void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                  bool first) const override {
    around_.run([=, this] { cpu_->accumulate(blocks, gradients, elements, first); });
  }
  void downcast(void* to, DType type, const float* from, std::int64_t elements) const override {
    around_.run([=, this] { cpu_->downcast(to, type, from, elements); });
  }
  void upcast(float* to, const void* from, DType type, std::int64_t elements) const override {
    around_.run([=, this] { cpu_->upcast(to, from, type, elements); });
  }
  void unscale(const UpdateBlocks& blocks) const override {
    around_.run([this, blocks] { cpu_->unscale(blocks); });
  }
  void add_l2(const UpdateBlocks& blocks) const override {
    around_.run([this, blocks] { cpu_->add_l2(blocks); });
  }
  void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                     double* norm) const override {
    around_.run([=, this] { cpu_->gradient_norm(blocks, scratch, norm); });
  }
  void regularisation_loss(const UpdateBlocks& blocks, std::span<double> scratch,
                           double* sum) const override {
    around_.run([=, this] { cpu_->regularisation_loss(blocks, scratch, sum); });
  }
  void note_nonfinite(StepState* state, const double* value) const override {
    around_.run([=, this] { cpu_->note_nonfinite(state, value); });
  }
  void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                      double maximum) const override {
    around_.run([=, this] { cpu_->clip_gradients(blocks, norm, maximum); });
  }
  void update_running(const StatisticBlocks& statistics) const override {
    around_.run([this, statistics] { cpu_->update_running(statistics); });
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule,
              double time_decay) const override {
    around_.run([=, this] { cpu_->update(blocks, rule, time_decay); });
  }
  void average(const AverageBlocks& blocks) const override {
    around_.run([this, blocks] { cpu_->average(blocks); });
  }
  void end(const EndUpdate& end) const override {
    around_.run([this, end] { cpu_->end(end); });
  }

 private:
  Around& around_;
  std::unique_ptr<UpdateLaunches> cpu_ = make_cpu_update_launches(1);
};

}  // namespace

std::unique_ptr<ExecutorFactory> wrap_executors(Around& around, const ExecutorFactory& executors) {
  return std::make_unique<WrappedExecutors>(around, executors);
}

std::unique_ptr<UpdateLaunches> wrap_launches(Around& around) {
  return std::make_unique<WrappedLaunches>(around);
}

}  // namespace trainyard::test
