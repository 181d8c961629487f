// Executors of which those of weight gradients do nothing, so that a step without them can be
// timed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compute/executor.h"
#include "compute/weight_packing.h"

namespace trainyard::probe {

/// Has the memory of an executor, and none of its work.
class IdleExecutor final : public Executor {
 public:
  explicit IdleExecutor(std::unique_ptr<Executor> executor) : executor_(std::move(executor)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override { executor_->bind(tensors); }
  void run() override {}

 private:
  std::unique_ptr<Executor> executor_;
};

/// Executors of a device that packs weights, which outlives this.
class LeaveOutGradients final : public ExecutorFactory, public WeightPacking {
 public:
  explicit LeaveOutGradients(const ExecutorFactory& executors)
      : executors_(executors), packing_(weight_packing_of(executors)) {
    TY_CHECK(packing_ != nullptr, "this is for GPUs, which pack weights");
  }
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    auto executor = executors_.make(step);
    const bool idle =
        step.pass == Pass::backward_parameters && step.op->contract().can(Can::use_side_queue);
    if (!idle) return executor;
    return std::make_unique<IdleExecutor>(std::move(executor));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return executors_.make_reorder(from, from_type, to, to_type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return executors_.make_accumulate(layout, type, threads);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_pack(const std::vector<WeightShape>& shapes,
                                                    DType storage) const override {
    return packing_->make_pack(shapes, storage);
  }
  [[nodiscard]] std::unique_ptr<Executor> make_unpack(const std::vector<WeightShape>& shapes,
                                                      DType storage) const override {
    return packing_->make_unpack(shapes, storage);
  }
  [[nodiscard]] const StepQueues* queues() const override { return executors_.queues(); }
  [[nodiscard]] std::string libraries() const override { return executors_.libraries(); }
  [[nodiscard]] std::string choices() const override { return executors_.choices(); }

 private:
  const ExecutorFactory& executors_;
  const WeightPacking* packing_;
};

}  // namespace trainyard::probe
