#include "model/batch_outputs.h"

#include <algorithm>

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
}

std::vector<float> BatchOutputs::read() {
  reorder_->run();
  const auto elements = static_cast<std::size_t>(shape().elements());
  Queue& queue = model_.compute().queue;
  std::vector<float> values(elements);
  if (plain_.type == DType::f32) {
    queue.copy_to_host(values.data(), memory_.data(), elements * sizeof(float));
    queue.wait();
    return values;
  }
  std::vector<double> wide(elements);
  queue.copy_to_host(wide.data(), memory_.data(), elements * sizeof(double));
  queue.wait();
  std::ranges::transform(wide, values.begin(),
                         [](double value) { return static_cast<float>(value); });
  return values;
}

}  // namespace trainyard
