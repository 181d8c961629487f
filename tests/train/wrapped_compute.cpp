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
  void judge(const JudgeMicroBatch& judge) const override {
    around_.run([=, this] { cpu_->judge(judge); });
  }
  void begin(const BeginUpdate& begin) const override {
    around_.run([this, begin] { cpu_->begin(begin); });
  }
  void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                  float* rows) const override {
    around_.run(
        [this, results, sample_index, rows] { cpu_->store_rows(results, sample_index, rows); });
  }
  void add_results(const ResultTable& results, double* totals) const override {
    around_.run([this, results, totals] { cpu_->add_results(results, totals); });
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
  void finish_gradients(const UpdateBlocks& blocks, const GradientFinish& task) const override {
    around_.run([=, this] { cpu_->finish_gradients(blocks, task); });
  }
  void regularisation_loss(const UpdateBlocks& blocks, const RunSums& sums,
                           double* loss) const override {
    around_.run([=, this] { cpu_->regularisation_loss(blocks, sums, loss); });
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule, double time_decay,
              const StatisticBlocks& statistics) const override {
    around_.run([=, this] { cpu_->update(blocks, rule, time_decay, statistics); });
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
