#include "model/batch_outputs.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {
namespace {

/// The network's output in the evaluation program.
TensorView output_of(const Model& model) { return model.eval().view(model.graph().graph.output); }

}  // namespace

BatchOutputs::BatchOutputs(Model& model, int threads)
    : model_(model),
      memory_(model.compute().device,
              static_cast<std::size_t>(shape_of(output_of(model).layout).elements()) *
                  size_of(model.memory().type())),
      plain_{memory_.data(), model.memory().type(),
             plain_layout(shape_of(output_of(model).layout))},
      reorder_(model.compute().executors.make_reorder(
          output_of(model).layout, output_of(model).type, plain_.layout, plain_.type, threads)) {
  reorder_->bind({.inputs = {output_of(model)}, .outputs = {plain_}});
  for (Sent& sent : sent_) {
    sent = {.values = model.compute().device.allocate_host(memory_.size()),
            .arrived = model.compute().device.make_event()};
  }
}

void BatchOutputs::send() {
  TY_CHECK(sends_ - takes_ < sent_.size(), "outputs that were sent are taken");
  const Sent& to = sent_[sends_++ % sent_.size()];
  reorder_->run();
  model_.compute().queue.copy_to_host(to.values->data(), memory_.data(), to.values->bytes());
  to.arrived->record(model_.compute().queue);
}

std::vector<float> BatchOutputs::take() {
  TY_CHECK(takes_ < sends_, "outputs are sent before they are taken");
  const Sent& from = sent_[takes_++ % sent_.size()];
  from.arrived->wait();
  const auto elements = static_cast<std::size_t>(shape().elements());
  if (plain_.type == DType::f32) {
    const auto* const values = static_cast<const float*>(from.values->data());
    return {values, values + elements};
  }
  const auto* const wide = static_cast<const double*>(from.values->data());
  std::vector<float> values(elements);
  std::transform(wide, wide + elements, values.begin(),
                 [](double value) { return static_cast<float>(value); });
  return values;
}

}  // namespace trainyard
