// A step that adds to a gradient, of an executor that cannot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/offset_allocator.h"
#include "compute/elementwise/functor.h"
#include "compute/executor.h"

namespace trainyard {

/// A step with StepForm::adds_gradient, of an executor without: its gradient goes to the
/// workspace, rounded, from where it is added.
class AddsApart final : public Executor {
 public:
  AddsApart(ExecutorPtr product, const StepDescription& step)
      : product_(std::move(product)), index_(written_input(step)) {
    const Layout& layout = step.inputs[index_];
    static_cast<void>(workspace_.take(product_->workspace_bytes()));  // the first slot
    gradient_ =
        workspace_.take(static_cast<std::size_t>(span_elements(layout)) * size_of(step.storage));
    add_ = make_functor_accumulate(layout, layout, step.storage, step.threads);
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  [[nodiscard]] std::size_t reserve_bytes() const override { return product_->reserve_bytes(); }
  [[nodiscard]] Algorithm algorithm() const override { return product_->algorithm(); }
  void bind(const StepTensors& tensors) override {
    StepTensors apart = tensors;
    TensorView& gradient = apart.input_gradients[index_];
    gradient.data = address_at(tensors.workspace, gradient_);
    product_->bind(apart);
    add_->bind({.inputs = {gradient}, .outputs = {tensors.input_gradients[index_]}});
  }
  void run() override {
    product_->run();
    add_->run();
  }

 private:
  static std::size_t written_input(const StepDescription& step) {
    const auto& needs = step.needs_input_gradient;
    return static_cast<std::size_t>(std::ranges::find(needs, true) - needs.begin());
  }

  ExecutorPtr product_, add_;
  std::size_t index_;              // index of the one input whose gradient is written
  OffsetAllocator workspace_{64};  // cache lines, as libraries require
  std::size_t gradient_ = 0;
};

/// `make` makes the executor of a step that does not add.
template <class Make>
[[nodiscard]] ExecutorPtr add_apart(StepDescription step, const Make& make) {
  step.form.adds_gradient = false;
  return std::make_unique<AddsApart>(make(step), step);
}

}  // namespace trainyard
