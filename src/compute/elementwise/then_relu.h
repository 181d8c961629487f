// A layer's forward step and the ReLU behind it, for libraries that have none that leaves NaN: one
// that makes 0 of it (as oneDNN's) hides that a training has diverged.
#pragma once

#include <cstddef>
#include <utility>

#include "compute/elementwise/functor.h"
#include "compute/executor.h"
#include "ops/activation.h"

namespace trainyard {

/// A layer's step with StepForm::relu, of an executor without: the ReLU follows in place.
class ThenRelu final : public Executor {
 public:
  ThenRelu(ExecutorPtr layer, const StepDescription& step) : layer_(std::move(layer)) {
    const ActivationOp<Relu> op({});
    relu_ = make_functor_executor({.op = &op,
                                   .pass = step.pass,
                                   .storage = step.storage,
                                   .inputs = step.outputs,
                                   .outputs = step.outputs,
                                   .threads = step.threads});
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return layer_->workspace_bytes(); }
  [[nodiscard]] std::size_t reserve_bytes() const override { return layer_->reserve_bytes(); }
  [[nodiscard]] Algorithm algorithm() const override { return layer_->algorithm(); }
  void bind(const StepTensors& tensors) override {
    layer_->bind(tensors);
    relu_->bind({.inputs = tensors.outputs, .outputs = tensors.outputs});
  }
  void run() override {
    layer_->run();
    relu_->run();
  }

 private:
  ExecutorPtr layer_, relu_;
};

}  // namespace trainyard
